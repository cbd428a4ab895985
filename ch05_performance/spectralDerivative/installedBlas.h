#pragma once
// A BLAS that is installed on this machine. It is loaded while the program runs, and not linked.

#include <dlfcn.h>

#include <cstddef>
#include <string>

// The product of FP32 matrices of any BLAS, by its Fortran name, which every BLAS has.
// Matrices are stored column by column.
class InstalledBlas {
  public:
    // `library` is a name for dlopen(): "libopenblas.so.0", or a path. problem() tells what is
    // wrong.
    explicit InstalledBlas(const std::string& library)
        : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) {
            problem_ = dlerror();
            return;
        }
        sgemm_ = reinterpret_cast<Sgemm*>(dlsym(handle_, "sgemm_"));
        if (sgemm_ == nullptr) problem_ = library + ": has no sgemm_";
    }
    ~InstalledBlas() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    InstalledBlas(const InstalledBlas&) = delete;
    InstalledBlas& operator=(const InstalledBlas&) = delete;

    const std::string& problem() const { return problem_; }  // empty if there is none

    // Computes c (m x n) = a (m x k) * b (k x n), or a times the transpose of b (n x k). The
    // columns of a matrix lie as far apart as it has rows.
    void multiply(const float* a, const float* b, float* c, int m, int n, int k,
                  bool transposedB) const {
        const float one = 1, zero = 0;
        // Fortran passes addresses, and the lengths of texts behind all other arguments.
        sgemm_("N", transposedB ? "T" : "N", &m, &n, &k, &one, a, &m, b, transposedB ? &n : &k,
               &zero, c, &m, 1, 1);
    }

  private:
    using Sgemm = void(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*, std::size_t, std::size_t);

    void* handle_;
    Sgemm* sgemm_ = nullptr;
    std::string problem_;
};
