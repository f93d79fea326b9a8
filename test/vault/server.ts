import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ensureVault } from './program.ts';

/** An unsealed Vault with the transit engine and one key. */
export interface VaultServer {
  readonly address: string;
  /** Can only encrypt and decrypt with the key. */
  readonly token: string;
  readonly key: string;
  seal(): Promise<void>;
  unseal(): Promise<void>;
  /** Creates a new version of the transit key; older ones still decrypt. */
  rotate(): Promise<void>;
  /** Revokes the token. */
  revokeToken(): Promise<void>;
  newToken(): Promise<string>;
  close(): Promise<void>;
}

const KEY = 'svc';
const POLICY = `path "transit/encrypt/${KEY}" { capabilities = ["update"] }
path "transit/decrypt/${KEY}" { capabilities = ["update"] }`;

export async function startVault(): Promise<VaultServer> {
  const child = spawn(await ensureVault(), ['127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const address = `http://${line}`;
    const initialised = await call(address, 'PUT', 'sys/init', '', { secret_shares: 1, secret_threshold: 1 });
    const root = String(initialised['root_token']);
    const [share] = initialised['keys'] as [string]; // one share was requested
    const unseal = async (): Promise<void> => void (await call(address, 'PUT', 'sys/unseal', '', { key: share }));
    const asRoot = (method: string, path: string, body: object = {}) => call(address, method, path, root, body);
    const newToken = async (): Promise<string> => {
      const { auth } = await asRoot('POST', 'auth/token/create', { policies: ['svc'] });
      return (auth as { client_token: string }).client_token; // from the documented response
    };
    await unseal();
    await asRoot('POST', 'sys/mounts/transit', { type: 'transit' });
    await asRoot('POST', `transit/keys/${KEY}`);
    await asRoot('PUT', 'sys/policies/acl/svc', { policy: POLICY });
    const token = await newToken();
    return {
      address,
      token,
      key: KEY,
      newToken,
      unseal,
      close,
      seal: async () => void (await asRoot('PUT', 'sys/seal')),
      rotate: async () => void (await asRoot('POST', `transit/keys/${KEY}/rotate`)),
      revokeToken: async () => void (await asRoot('POST', 'auth/token/revoke', { token })),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function call(
  address: string,
  method: string,
  path: string,
  token: string,
  body: object,
): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'x-vault-token': token }) };
  const response = await fetch(`${address}/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`Vault answers ${response.status} to ${method} ${path}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>); // each field is checked where it is used
}
