// Some of CANN's libraries are only named by those that link to them. They are empty here; whoever
// looks a function up in one finds it in libascendcl.so, which each of them needs.
