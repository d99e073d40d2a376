"""The extension module tenon._native, for setuptools: see cffi_modules in setup.py."""

import os

from cffi import FFI

HERE = os.path.dirname(os.path.abspath(__file__))
INSIDE = os.path.join(HERE, "csrc")  # in a source distribution
SOURCE = os.environ.get("TENON_SOURCE") or (INSIDE if os.path.isdir(INSIDE) else os.path.dirname(HERE))
FOLDERS = ["include", "import/include", "batch/include", "scenes", "files"]

ffi = FFI()
with open(os.path.join(HERE, "tenon/_declarations.cdef")) as declarations:
    ffi.cdef(declarations.read())
ffi.set_source(
    "tenon._native",
    '#include "glue.h"',
    sources=["glue/glue.c", "glue/poses.c", "glue/batch.c", "glue/card.c"],
    depends=["glue/glue.h", "tenon/_declarations.cdef"],
    include_dirs=["glue"] + [os.path.join(SOURCE, folder) for folder in FOLDERS],
    define_macros=[("TENON_STATIC", None)],
    extra_compile_args=["-std=c17", "-O2", "-ffp-contract=off"],
    libraries=["expat", "cjson", "m", "pthread", "dl"],
)
