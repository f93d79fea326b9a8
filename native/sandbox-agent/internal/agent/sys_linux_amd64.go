package agent

const sysRenameat2 = 316
