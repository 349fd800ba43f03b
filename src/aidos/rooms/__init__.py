"""The rooms: each has its jobs, its answers with their pages, and its kernels. Rooms do not know each other."""
