// The peers of the bandwidth rows: what OpenMP and the compiler make of the plain loops.
extern "C" void triad(float* a, const float* b, const float* c, float s, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
}

extern "C" void copy(float* a, const float* b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] = b[i];
}
