"""Tenon: rigid and soft bodies, contacts, joints and robots, with numpy arrays in and out.

    import tenon
    w = tenon.World(substeps=8)
    w.add_plane()
    box = w.add_body(tenon.Box(0.5, 0.2, 0.3), position=(0, 3, 0), name="box")
    for _ in range(600):
        w.step(1 / 60)
    print(box, w.positions)
"""

from . import learn as learn
from . import rotations as rotations
from ._articulation import *
from ._batch import *
from ._card import *
from ._card_batch import *
from ._convert import *
from ._events import *
from ._generated import *
from ._generated import VERSION_STRING as __version__
from ._handles import *
from ._pictures import *
from ._record import *
from ._robot import *
from ._scenes import *
from ._specs import *
from ._states import *
from ._study import *
from ._viewer import *
from ._world import *
