# How everything in this project is compiled, and for which lane widths.

# Vector extensions carry the wide lanes. Eight of them are AVX2 on x86 and sixteen, which bodies and
# contacts alone use, AVX-512, chosen at run time. None may use fused multiply-add, which rounds differently.
if(MSVC)
  set(TENON_LANES 1)
else()
  set(TENON_LANES 1 4 8)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|i.86)$")
    set(TENON_LANES_8_OPTIONS -mavx2)
    set(TENON_LANES_16_OPTIONS -mavx512f -mavx512dq)
  endif()
endif()

if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TENON_SANITIZE})
endif()
# The preset asan has all sanitizers in the lanes; clang takes minutes for them.
if(TENON_SANITIZE MATCHES fuzzer)
  set(TENON_LANES_SANITIZE -fno-sanitize=undefined CACHE STRING "Options of the lanes in a fuzz build")
endif()

# Language, warnings, and the floating point rules that make results the same everywhere.
function(tenon_target target)
  set_target_properties(
    ${target}
    PROPERTIES C_STANDARD 17
               C_STANDARD_REQUIRED ON
               C_EXTENSIONS OFF
               C_VISIBILITY_PRESET hidden
               POSITION_INDEPENDENT_CODE ON)
  if(MSVC)
    target_compile_definitions(${target} PRIVATE TN_ONE_LANE)
    target_compile_options(${target} PRIVATE /W4 /fp:precise $<$<BOOL:${TENON_WERROR}>:/WX>)
  else()
    target_compile_options(
      ${target}
      PRIVATE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wdouble-promotion
              -Wstrict-prototypes
              -Wmissing-prototypes
              -Wvla
              $<$<BOOL:${TENON_WERROR}>:-Werror>
              -ffp-contract=off
              -fno-math-errno)
  endif()
endfunction()

# What reads files of strangers, in release builds: stack protectors, checked string functions, and a
# program of random addresses whose tables are read-only. Test `hardening`.
function(tenon_hardened target)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT TENON_SANITIZE)
    target_compile_options(${target} PRIVATE -fstack-protector-strong -U_FORTIFY_SOURCE
                                             -D_FORTIFY_SOURCE=2)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      target_link_options(${target} PRIVATE -pie LINKER:-z,relro,-z,now,-z,noexecstack)
    endif()
  endif()
endfunction()
