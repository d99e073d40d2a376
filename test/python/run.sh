#!/usr/bin/env bash
# The Python package: declarations as the headers have them, a wheel made offline, installed into a
# clean virtual environment, and tested there with pytest and mypy.
# usage: run.sh BUILD FOLDER [sdist|asan|card]
#   BUILD    CMake build whose archives the wheel contains
#   FOLDER   for the wheel and the environment
#   sdist    builds the wheel from a source distribution, which compiles the engine itself
#   asan     BUILD has the address sanitizer
#   card     only the tests of batches on a card, on the card of this machine
set -euo pipefail
build=$1 folder=$2 mode=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
python=/usr/bin/python3
[ -x $python ] || python=python3

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$python" "$root/python/generate.py" --check

cp -r "$root/python" source # so that nothing is written into the tree
rm -rf source/tenon/bin source/tenon/*.so source/build
export TENON_SOURCE=$root PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore
if [ "$mode" = sdist ]; then
  (cd source && "$python" setup.py -q sdist --dist-dir ../dist) >sdist.log 2>&1 || { cat sdist.log && exit 1; }
  unset TENON_SOURCE
  archive=$(echo dist/*.tar.gz)
else
  export TENON_BUILD=$build
  archive=./source
fi
if [ "$mode" = asan ]; then
  export CFLAGS="-fsanitize=address,undefined -g1" LDFLAGS="-fsanitize=address,undefined"
fi
"$python" -m pip wheel -q --no-build-isolation --no-deps -w wheels "$archive" >wheel.log 2>&1 || { cat wheel.log && exit 1; }
ls wheels/tenon-*-cp38-abi3-*.whl

"$python" -m venv --system-site-packages environment
environment/bin/pip install -q --no-deps wheels/*.whl
if [ "$mode" != asan ]; then
  environment/bin/python -m tenon version
  [ "$(environment/bin/tenon version)" = "$(environment/bin/python -m tenon version)" ]
fi

cp -r "$root/test/python" tests # away from the sources, which would be imported instead
export TENON_EXAMPLES=$root/python/examples TENON_DOCS=$root/docs
unset PYTHONPATH
if [ "$mode" = asan ]; then
  # The interpreter itself gives no memory back at its end, and the sanitizer keeps what is freed.
  LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    environment/bin/python -m pytest -q -p no:cacheprovider tests -k "not command and not module and not memory_stays"
  exit
fi
if [ "$mode" = card ]; then
  environment/bin/python -c 'import tenon; assert tenon.cuda_available(), "no card, or no module for cards"'
  environment/bin/python -m pytest -v -p no:cacheprovider tests/test_card.py
  exit
fi
environment/bin/python -m pytest -q -p no:cacheprovider tests
# With a driver of cards that is made for tests; not with a module that is older than the engine.
driver=$build/test/driver_whole cards=$build/batch/cuda/libtenon_cuda.a
if [ "$mode" != sdist ] && [ "$cards" -nt "$build/libtenon.a" ] && [ -e "$driver/libcuda.so.1" ]; then
  LD_LIBRARY_PATH=$driver XDG_CACHE_HOME=$PWD/cache environment/bin/python -m pytest -q -p no:cacheprovider tests/test_card.py
else
  echo "batches on a card are not tested: there is no module for cards, or an old one"
fi
environment/bin/python tests/cost.py
cd source
mypy --strict --config-file pyproject.toml --python-executable ../environment/bin/python \
  --cache-dir ../mypy tenon $(find examples -name '*.py')
