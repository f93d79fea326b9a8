import { readFile } from 'node:fs/promises';

/** How to reach the engine, from the configuration. */
export interface EngineSettings {
  /** `unix:///var/run/docker.sock` or `tcp://host:2376`. */
  readonly host: string;
  readonly ca_file?: string | undefined;
  readonly certificate_file?: string | undefined;
  readonly key_file?: string | undefined;
}

/** Connection options for requests; `tls` selects HTTPS or HTTP. */
export type EngineEndpoint =
  | { readonly socketPath: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly tls: { readonly ca: string; readonly cert: string; readonly key: string } | null;
    };

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;

/** Throws a readable error if the settings are inconsistent. */
export async function readEndpoint(settings: EngineSettings): Promise<EngineEndpoint> {
  const unix = /^unix:\/\/(\/.+)$/.exec(settings.host)?.[1];
  if (unix !== undefined) return { socketPath: unix };
  const { protocol, hostname, port } = parseUrl(settings.host);
  if (protocol !== 'tcp:' || hostname === '')
    throw new Error('sandboxes.docker.host must be unix:///PATH or tcp://HOST:PORT');
  const { ca_file: ca, certificate_file: certificate, key_file: key } = settings;
  if (ca === undefined || certificate === undefined || key === undefined) {
    // Access to an engine without TLS is root access to its machine, so it is allowed only on loopback.
    if (!/^(localhost|127\.[0-9.]+|\[::1\])$/.test(hostname)) {
      throw new Error('an engine over tcp needs sandboxes.docker.ca_file, certificate_file and key_file');
    }
    return { host: hostname, port: Number(port || PLAIN_PORT), tls: null };
  }
  const [caText, certText, keyText] = await Promise.all([ca, certificate, key].map((file) => readFile(file, 'utf8')));
  return {
    host: hostname,
    port: Number(port || TLS_PORT),
    tls: { ca: caText ?? '', cert: certText ?? '', key: keyText ?? '' },
  };
}

function parseUrl(text: string): { protocol: string; hostname: string; port: string } {
  try {
    return new URL(text);
  } catch {
    return { protocol: '', hostname: '', port: '' };
  }
}
