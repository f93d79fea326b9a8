// The image's health check: exit code 0 if this container's platform answers. It only opens one connection, because
// loading the command would cost a second of processor time each time. Reads the environment, not a configuration file.
import { get as getPlain } from 'node:http';
import { get as getWithTls } from 'node:https';

const { SVC_HTTP: http = 'serve', SVC_PORT: port = '4000', SVC_HTTPS_PORT: httpsPort = '4443' } = process.env;
const address = http === 'off' ? `https://127.0.0.1:${httpsPort}/healthz` : `http://127.0.0.1:${port}/healthz`;
const get = http === 'off' ? getWithTls : getPlain;

// The certificate need not name the loopback address: the request stays inside the container and carries no secret.
get(address, { timeout: 4000, rejectUnauthorized: false }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
})
  .on('timeout', function onTimeout() {
    this.destroy(new Error('no answer within 4 seconds'));
  })
  .on('error', (error) => {
    process.stderr.write(`${address}: ${error.message}\n`);
    process.exitCode = 1;
  });
