import { startCeph } from './start.ts';

/** Manual use: starts a gateway, prints how to reach it, runs until Ctrl-C. */
const ceph = await startCeph();
console.log(
  `S3_ENDPOINT=${ceph.endpoint}\nAWS_ACCESS_KEY_ID=${ceph.accessKeyId}\nAWS_SECRET_ACCESS_KEY=${ceph.secretAccessKey}`,
);
process.once('SIGINT', () => void ceph.stop().then(() => process.exit(0)));
process.once('SIGTERM', () => void ceph.stop().then(() => process.exit(0)));
