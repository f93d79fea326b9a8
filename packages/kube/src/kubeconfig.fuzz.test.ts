import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAppError } from '@svc/errors';
import { describeFuzz, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { kubeconfigAccess } from './kubeconfig.ts';

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder('svc-kubeconfig-');
});
afterAll(() => folder.remove());

const config = `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: c, user: u, namespace: n}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: AAAA}}]
users: [{name: u, user: {token: t}}]
`;

describeFuzz({
  name: 'kubeconfig files',
  corpus: new URL('./corpus/kubeconfig/', import.meta.url),
  seeds: [
    config,
    config.replace('token: t', 'client-certificate-data: AAAA, client-key: missing.pem'),
    config.replace('token: t', 'exec: {command: sh, args: [-c, id]}'),
    config.replace('https://127.0.0.1:6443', 'file:///etc/passwd'),
    config.replace('token: t', 'tokenFile: token'),
    '{"clusters":null,"users":[],"contexts":{}}',
  ],
  dictionary: [
    'exec: ',
    'auth-provider: ',
    'username: ',
    'proxy-url: ',
    'insecure-skip-tls-verify: true',
    'http://',
    'file://',
    'javascript:',
    'tokenFile: ',
    '&a ',
    '*a',
    '<<: ',
    '- ',
    'null',
    '__proto__: ',
    '[',
    '{',
  ],
  run: async (input) => {
    const path = join(folder.path, 'config');
    await writeFile(path, input);
    try {
      const access = await kubeconfigAccess(path);
      expect(['http:', 'https:']).toContain(access.server.protocol);
      expect(typeof access.namespace).toBe('string');
      expect(typeof access.insecureSkipVerify).toBe('boolean');
    } catch (error) {
      if (!isAppError(error) || error.code !== 'KUBECONFIG_INVALID') throw error;
      expect(error.message.length + String(error.details['reason']).length).toBeGreaterThan(10);
    }
  },
});
