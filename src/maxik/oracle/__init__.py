"""The kernel built by other compilers, driven as a program: x87 by gcc, x87 under Wine, VS2008's cl.exe (spec 1.2)."""
