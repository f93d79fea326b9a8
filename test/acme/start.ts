import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, selfSignedCertificate, waitFor } from '@svc/testing';
import { assertRunning, startDaemon } from '../kubernetes/daemon.ts';
import { getOverTls } from './client.ts';

export interface AcmeOptions {
  /** Where the server asks for the answer of an HTTP-01 challenge, instead of port 80; a free one when absent. */
  validationPort?: number;
  /** `HOST:PORT` of the name server that it asks for the names to validate; that of the machine when absent. */
  nameServer?: string;
}

export interface Acme {
  /** URL of the directory (RFC 8555, 7.1.1). */
  directoryUrl: string;
  /** PEM of the only authority that vouches for the server's own address. */
  ca: string;
  validationPort: number;
  /** URL of the root certificate that it issues under: made anew at every start. */
  rootUrl: string;
  stop(): Promise<void>;
}

const READY_MS = 30_000;

/** Starts an ACME server of Debian's package `pebble` on the loopback address. */
export async function startAcme(options: AcmeOptions = {}): Promise<Acme> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-acme-'));
  const [port, managementPort, tlsPort] = [await freePort(), await freePort(), await freePort()];
  const validationPort = options.validationPort ?? (await freePort());
  const { key, cert } = await selfSignedCertificate();
  await writeFile(join(folder, 'server.crt'), cert);
  await writeFile(join(folder, 'server.key'), key, { mode: 0o600 });
  const configuration = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: join(folder, 'server.crt'),
      privateKey: join(folder, 'server.key'),
      httpPort: validationPort,
      tlsPort,
      externalAccountBindingRequired: false,
    },
  };
  await writeFile(join(folder, 'pebble.json'), JSON.stringify(configuration));
  const nameServer = options.nameServer === undefined ? [] : ['-dnsserver', options.nameServer];
  const settings = [
    'PEBBLE_VA_NOSLEEP=1', // it waits up to 15 seconds before a validation otherwise
    'PEBBLE_WFE_NONCEREJECT=0', // else it refuses good nonces at random
  ];
  const flags = ['-config', join(folder, 'pebble.json'), '-strict', ...nameServer];
  const daemon = startDaemon(folder, 'pebble', 'env', [...settings, 'pebble', ...flags]);
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const directoryUrl = `https://localhost:${port}/dir`;
  try {
    await waitFor(
      async () => {
        await assertRunning(daemon);
        return getOverTls(directoryUrl, cert).then(
          () => true,
          () => false,
        );
      },
      { timeoutMs: READY_MS, description: 'the ACME server' },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { directoryUrl, ca: cert, validationPort, rootUrl: `https://localhost:${managementPort}/roots/0`, stop };
}
