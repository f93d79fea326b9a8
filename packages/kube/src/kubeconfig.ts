import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { ClusterAccess, TokenSource } from './access.ts';
import { kubeErrors } from './errors.ts';
import { isRecord } from './fields.ts';
import { fileToken, staticToken } from './token-source.ts';

type Fields = Record<string, unknown>;

/**
 * Reads access from a kubeconfig file: tokens (also from files), client certificates, CA, `tls-server-name`. Refuses
 * credential plugins (`exec`, `auth-provider`) and basic auth by name. Throws `KUBECONFIG_INVALID`.
 */
export async function kubeconfigAccess(
  path: string,
  contextName?: string,
  nowMs: () => number = Date.now,
): Promise<ClusterAccess> {
  const config = await readConfig(path);
  const context = entry(config, 'contexts', 'context', contextName ?? text(config, 'current-context') ?? '');
  const cluster = entry(config, 'clusters', 'cluster', text(context, 'cluster') ?? '');
  const user = entry(config, 'users', 'user', text(context, 'user') ?? '');
  refuseUnsupported(cluster, user);
  const folder = dirname(resolve(path));
  const [authority, clientCertificate, clientKey] = await Promise.all([
    inlineOrFile(cluster, 'certificate-authority', folder),
    inlineOrFile(user, 'client-certificate', folder),
    inlineOrFile(user, 'client-key', folder),
  ]);
  const serverName = text(cluster, 'tls-server-name');
  return {
    server: parseServer(cluster),
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] === true,
    token: createTokenSource(user, folder, nowMs),
    namespace: text(context, 'namespace') ?? 'default',
    ...(authority === undefined ? {} : { authority }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

async function readConfig(path: string): Promise<Fields> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'), { maxAliasCount: 100 });
  } catch (cause) {
    throw kubeErrors.KUBECONFIG_INVALID({ details: { reason: 'it cannot be read' }, cause });
  }
  if (!isRecord(content)) throw invalid('it is not a mapping');
  return content;
}

function entry(config: Fields, list: string, field: string, name: string): Fields {
  const entries = config[list];
  const found = Array.isArray(entries) ? entries.find((item) => isRecord(item) && item['name'] === name) : undefined;
  const value: unknown = isRecord(found) ? found[field] : undefined;
  if (!isRecord(value)) throw invalid(`${list} has no entry "${name}"`);
  return value;
}

function parseServer(cluster: Fields): URL {
  const server = URL.parse(text(cluster, 'server') ?? '');
  if (server === null || !['https:', 'http:'].includes(server.protocol))
    throw invalid('the server is not an http(s) URL');
  return server;
}

function refuseUnsupported(cluster: Fields, user: Fields): void {
  for (const field of ['exec', 'auth-provider', 'username']) {
    if (user[field] !== undefined)
      throw invalid(`users with "${field}" are not supported; use a token or a certificate`);
  }
  if (cluster['proxy-url'] !== undefined) throw invalid('clusters with "proxy-url" are not supported');
}

function createTokenSource(user: Fields, folder: string, nowMs: () => number): TokenSource {
  const file = text(user, 'tokenFile');
  if (file !== undefined) return fileToken(resolve(folder, file), nowMs);
  return staticToken(text(user, 'token') ?? null);
}

async function inlineOrFile(fields: Fields, name: string, folder: string): Promise<string | undefined> {
  const inline = text(fields, `${name}-data`);
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  const file = text(fields, name);
  if (file === undefined) return undefined;
  try {
    return await readFile(resolve(folder, file), 'utf8');
  } catch (cause) {
    throw kubeErrors.KUBECONFIG_INVALID({ details: { reason: `the file of "${name}" cannot be read` }, cause });
  }
}

function text(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function invalid(reason: string): Error {
  return kubeErrors.KUBECONFIG_INVALID({ details: { reason } });
}
