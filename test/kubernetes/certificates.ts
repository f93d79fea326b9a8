import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './commands.ts';

export interface Identity {
  certificate: string;
  key: string;
}

export interface Certificates {
  folder: string;
  authority: Identity;
  apiServer: Identity;
  /** The API server's identity toward the kubelet. */
  kubeletClient: Identity;
  /** The API server's identity toward aggregated APIs. */
  frontProxy: Identity;
  admin: Identity;
  node: Identity;
  serviceAccountKey: string;
}

/** Creates a new authority and the identities it signs; paths of PEM files. */
export async function makeCertificates(folder: string, addresses: readonly string[]): Promise<Certificates> {
  await mkdir(folder, { recursive: true });
  const authority = await makeAuthority(folder);
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const alternatives = [...addresses.map((address) => `IP:${address}`), ...names.map((name) => `DNS:${name}`)];
  const serviceAccountKey = join(folder, 'service-account.key');
  await runCommand('openssl', ['genrsa', '-out', serviceAccountKey, '2048']);
  const sign = (name: string, subject: string, names?: readonly string[]): Promise<Identity> =>
    makeIdentity(folder, authority, name, subject, names);
  return {
    folder,
    authority,
    serviceAccountKey,
    apiServer: await sign('apiserver', '/CN=kube-apiserver', alternatives),
    kubeletClient: await sign('kubelet-client', '/O=system:masters/CN=kube-apiserver-kubelet-client'),
    frontProxy: await sign('front-proxy', '/CN=front-proxy-client'),
    admin: await sign('admin', '/O=system:masters/CN=admin'),
    node: await sign('node', '/O=system:nodes/CN=system:node:node-1'),
  };
}

/** A self-contained kubeconfig, readable by any Kubernetes client. */
export async function writeKubeconfig(
  path: string,
  server: string,
  authority: Identity,
  identity: Identity,
): Promise<void> {
  const text = `apiVersion: v1
kind: Config
current-context: test
clusters:
  - name: test
    cluster:
      server: ${server}
      certificate-authority-data: ${await base64Of(authority.certificate)}
users:
  - name: test
    user:
      client-certificate-data: ${await base64Of(identity.certificate)}
      client-key-data: ${await base64Of(identity.key)}
contexts:
  - name: test
    context: { cluster: test, user: test }
`;
  await writeFile(path, text, { mode: 0o600 });
}

async function base64Of(file: string): Promise<string> {
  return (await readFile(file)).toString('base64');
}

async function makeAuthority(folder: string): Promise<Identity> {
  const identity = paths(folder, 'authority');
  await runCommand('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '30',
    '-subj',
    '/CN=svc-test-authority',
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign,digitalSignature',
    '-keyout',
    identity.key,
    '-out',
    identity.certificate,
  ]);
  return identity;
}

async function makeIdentity(
  folder: string,
  authority: Identity,
  name: string,
  subject: string,
  alternatives: readonly string[] = [],
): Promise<Identity> {
  const identity = paths(folder, name);
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.cnf`);
  const alternativeLine = alternatives.length === 0 ? '' : `subjectAltName=${alternatives.join(',')}\n`;
  await writeFile(extensions, `extendedKeyUsage=serverAuth,clientAuth\n${alternativeLine}`);
  await runCommand('openssl', [
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    subject,
    '-keyout',
    identity.key,
    '-out',
    request,
  ]);
  await runCommand('openssl', [
    'x509',
    '-req',
    '-in',
    request,
    '-days',
    '30',
    '-extfile',
    extensions,
    '-out',
    identity.certificate,
    '-CA',
    authority.certificate,
    '-CAkey',
    authority.key,
    '-CAcreateserial',
  ]);
  return identity;
}

function paths(folder: string, name: string): Identity {
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}
