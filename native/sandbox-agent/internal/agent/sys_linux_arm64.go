package agent

const sysRenameat2 = 276
