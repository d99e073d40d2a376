"""Small models for the tests."""

ARM = """<mujoco model='arm'><worldbody>
  <body name='upper' pos='0 0 1'>
    <joint name='shoulder' axis='0 1 0'/>
    <geom type='capsule' fromto='0 0 0 .4 0 0' size='.04' mass='1'/>
    <body name='lower' pos='.4 0 0'>
      <joint name='elbow' axis='0 1 0'/>
      <geom type='capsule' fromto='0 0 0 .4 0 0' size='.04' mass='1'/>
    </body>
  </body></worldbody>
  <actuator><position name='s' joint='shoulder' kp='400'/><position name='e' joint='elbow' kp='200'/></actuator>
  <keyframe><key name='home' qpos='.3 .4' ctrl='.3 .4'/></keyframe>
</mujoco>"""

WALKER = """<mujoco model='walker'><worldbody>
  <body name='torso' pos='0 0 .4'><freejoint/>
    <geom type='box' size='.2 .1 .05' mass='2'/>
    <body name='leg' pos='.2 0 0'><joint name='hip' axis='0 1 0'/>
      <geom type='capsule' fromto='0 0 0 0 0 -.3' size='.03' mass='.3'/></body>
  </body></worldbody>
  <actuator><motor name='m' joint='hip'/></actuator></mujoco>"""
