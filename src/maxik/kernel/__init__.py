"""The compiled kernel behind numpy arrays: the C files of kernel/ through cffi, batch calls that release the GIL.

`maxik.kernel._kernel` is the extension that build_kernel.py describes. It is absent when no compiler was there at
installation; `engine.KernelEngine` then says so, and maxik.engines lets the model step in with a notice.
"""
