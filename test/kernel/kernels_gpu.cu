// The kernels give the same bits on a GPU and on the CPU. Exits with 77 (skipped) without a GPU;
// any other error of the GPU is a failure.
#include "kernel_rounds.h"

#include <cstdio>
#include <vector>

__global__ void all_rounds(Remains *remains)
{
  uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  remains[item] = round_of(item);
}

int main()
{
  Remains *there = nullptr;
  std::vector<Remains> found(ROUND_ITEMS);
  size_t size = ROUND_ITEMS * sizeof(Remains);
  int cards = 0;
  cudaError_t status = cudaGetDeviceCount(&cards);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
    std::printf("no graphics card: %s\n", cudaGetErrorString(status));
    return 77;
  }
  status = status == cudaSuccess ? cudaMalloc(&there, size) : status;
  if (status == cudaSuccess) {
    all_rounds<<<ROUND_ITEMS / 64, 64>>>(there);
    status = cudaMemcpy(found.data(), there, size, cudaMemcpyDeviceToHost);
  }
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    return 1;
  }
  uint32_t sum = 2166136261u;
  int differ = 0, nans = 0;
  for (uint32_t item = 0; item < ROUND_ITEMS; ++item) {
    Remains here = round_of(item);
    differ += here.hash != found[item].hash;
    nans += here.nans > 0 || found[item].nans > 0;
    sum = (sum ^ here.hash) * 16777619u;
  }
  std::printf("%d rounds, hash %08x: %d differ, %d not finite\n", ROUND_ITEMS, sum, differ, nans);
  return differ > 0 || nans > 0;
}
