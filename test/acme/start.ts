import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, selfSignedCertificate, waitFor } from '@svc/testing';
import { assertRunning, startDaemon } from '../kubernetes/daemon.ts';
import { getOverTls } from './client.ts';

export interface AcmeOptions {
  /** Port for HTTP-01 validation instead of 80; defaults to a free one. */
  validationPort?: number;
  /** `HOST:PORT` of the name server for validation; defaults to the machine's. */
  nameServer?: string;
}

export interface Acme {
  /** URL of the directory (RFC 8555, 7.1.1). */
  directoryUrl: string;
  /** PEM of the only authority for the server's own address. */
  ca: string;
  validationPort: number;
  /** URL of the issuing root certificate, which is new at every start. */
  rootUrl: string;
  stop(): Promise<void>;
}

const READY_MS = 30_000;

/** Starts the ACME server of Debian's package `pebble` on the loopback address. */
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
    'PEBBLE_VA_NOSLEEP=1', // otherwise it waits up to 15 seconds before a validation
    'PEBBLE_WFE_NONCEREJECT=0', // otherwise it randomly refuses valid nonces
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
