// A BLAS for tests: its product of matrices and nothing else, by the rules of Fortran.

extern "C" void sgemm_(const char* opA, const char* opB, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* pitchA, const float* b,
                       const int* pitchB, const float* beta, float* c, const int* pitchC);

void sgemm_(const char* opA, const char* opB, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* pitchA, const float* b,
            const int* pitchB, const float* beta, float* c, const int* pitchC) {
    for (int col = 0; col < *n; ++col) {
        for (int row = 0; row < *m; ++row) {
            float sum = 0;
            for (int i = 0; i < *k; ++i) {
                const float factorA = *opA == 'T' ? a[row * *pitchA + i] : a[i * *pitchA + row];
                const float factorB = *opB == 'T' ? b[i * *pitchB + col] : b[col * *pitchB + i];
                sum += factorA * factorB;
            }
            float& result = c[col * *pitchC + row];
            result = *beta == 0 ? *alpha * sum : *alpha * sum + *beta * result;
        }
    }
}
