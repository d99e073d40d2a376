"""A box falls on the ground and comes to rest."""

import tenon

world = tenon.World()
world.add_plane()
box = world.add_body(tenon.Box(0.5, 0.2, 0.3), position=(0, 3, 0), name="box")
heights = []
while box.awake and world.time < 5.0:
    world.step(1 / 60)
    heights.append(world.positions[box.row, 1])
print(f"{box.mass.mass:.0f} kg at rest after {world.time:.2f} s, {heights[-1]:.3f} m above the ground")
