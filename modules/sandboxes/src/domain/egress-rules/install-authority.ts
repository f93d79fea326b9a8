import { rootCertificates } from 'node:tls';
import { isAppError } from '@svc/errors';
import { sandboxErrors } from '../../errors.ts';
import { FileReading } from '../files/file-reading.ts';
import { FileWriting } from '../files/file-writing.ts';
import type { HelperConnection } from '../helper/helper-connection.ts';

/** Where Debian, Alpine and busybox have all trusted certificates in one file. Programs are told to use this one. */
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
/** Where others look: Fedora, OpenSSL's default, SUSE. */
const OTHER_BUNDLES = ['/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem', '/etc/ssl/ca-bundle.pem'] as const;
/** `update-ca-certificates` takes it into a new bundle. */
const SOURCE = '/usr/local/share/ca-certificates/svc-sandbox-egress.crt';
/** Named by OpenSSL's hash of `AUTHORITY_NAME` as the common name, for programs that use the folder. */
const HASHED = '/etc/ssl/certs/3bd93784.0';
/** The usual bundle has 220 KiB. */
const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;
const BEGIN = '# svc sandbox egress: begin';
const END = '# svc sandbox egress: end';

/** What tells programs about the bundle that do not look for it themselves, or bring their own. */
export const TRUST_ENVIRONMENT: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: BUNDLE,
  NODE_EXTRA_CA_CERTS: BUNDLE,
  REQUESTS_CA_BUNDLE: BUNDLE,
  CURL_CA_BUNDLE: BUNDLE,
  GIT_SSL_CAINFO: BUNDLE,
};

/** Makes programs of a running sandbox trust its authority, and no authority of another sandbox. Repeatable. */
export async function installAuthority(connection: HelperConnection, cert: string): Promise<void> {
  const others = await Promise.all(OTHER_BUNDLES.map((path) => readBundle(connection, path)));
  const bundle = await readBundle(connection, BUNDLE);
  const base = bundle ?? others.find((text) => text !== null) ?? `${rootCertificates.join('\n')}\n`;
  await writeFile(connection, BUNDLE, withAuthority(base, cert));
  for (const [index, path] of OTHER_BUNDLES.entries()) {
    // Several of them are links to the bundle, which now has it.
    const text = others[index] === null ? null : await readBundle(connection, path);
    if (text !== null && text !== withAuthority(text, cert))
      await writeFile(connection, path, withAuthority(text, cert));
  }
  await writeFile(connection, SOURCE, cert);
  await writeFile(connection, HASHED, cert);
}

/** Replaces the part that an earlier call added. */
export function withAuthority(bundle: string, cert: string): string {
  const start = bundle.indexOf(BEGIN);
  const end = start === -1 ? -1 : bundle.indexOf(END, start);
  const rest = end === -1 ? bundle : bundle.slice(0, start) + bundle.slice(end + END.length).trimStart();
  const separator = rest === '' || rest.endsWith('\n') ? '' : '\n';
  return `${rest}${separator}${BEGIN}\n${cert.trim()}\n${END}\n`;
}

async function readBundle(connection: HelperConnection, path: string): Promise<string | null> {
  try {
    await using reading = await FileReading.open(connection, path, {}, () => undefined);
    if (reading.sizeBytes > MAX_BUNDLE_BYTES) {
      throw sandboxErrors.FILE_TOO_LARGE({ details: { path, limit_bytes: MAX_BUNDLE_BYTES } });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of reading.chunks()) chunks.push(Buffer.from(chunk)); // valid until the next one
    return Buffer.concat(chunks).toString();
  } catch (error) {
    if (isAppError(error) && ABSENT.has(error.code)) return null;
    throw error;
  }
}

const ABSENT: ReadonlySet<string> = new Set(['PATH_NOT_FOUND', 'NOT_A_FILE', 'IS_A_DIRECTORY', 'NOT_A_DIRECTORY']);

async function writeFile(connection: HelperConnection, path: string, text: string): Promise<void> {
  const writing = new FileWriting(connection, path, { mode: 0o644, append: false, parents: true }, () => undefined);
  try {
    await writing.write(Buffer.from(text));
    await writing.finish();
  } catch (error) {
    writing.abort();
    throw error;
  }
}
