// Version and build configuration.
#include <tenon/base.h>

#ifndef TN_CONFIG_COMPILER
#define TN_CONFIG_COMPILER "unknown compiler"
#endif
#ifndef TN_CONFIG_BUILD_TYPE
#define TN_CONFIG_BUILD_TYPE "unknown build"
#endif

tn_version_info tn_version(void)
{
  tn_version_info v = {TN_VERSION_MAJOR, TN_VERSION_MINOR, TN_VERSION_PATCH};
  return v;
}

const char *tn_config(void)
{
#if defined(TN_ONE_LANE)
  return "tenon " TN_VERSION_STRING ", " TN_CONFIG_COMPILER ", " TN_CONFIG_BUILD_TYPE ", lanes 1";
#elif defined(__x86_64__) || defined(__i386__)
  return "tenon " TN_VERSION_STRING ", " TN_CONFIG_COMPILER ", " TN_CONFIG_BUILD_TYPE
         ", lanes 1 4 8 16";
#elif defined(TN_NO_SCALAR)
  return "tenon " TN_VERSION_STRING ", " TN_CONFIG_COMPILER ", " TN_CONFIG_BUILD_TYPE ", lanes 4";
#else
  return "tenon " TN_VERSION_STRING ", " TN_CONFIG_COMPILER ", " TN_CONFIG_BUILD_TYPE ", lanes 1 4";
#endif
}
