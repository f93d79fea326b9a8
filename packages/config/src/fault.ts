import { AppError } from '@svc/errors';

/** The origin of a value for display: `SVC_HTTP_PORT`, `/etc/svc/config.yaml:3:9`, `--port`. */
export interface Origin {
  readonly source: 'default' | 'yaml' | 'environment' | 'file' | 'flag';
  readonly where: string;
}

/** A value for a key from one source. */
export interface Assignment {
  readonly value: unknown;
  readonly origin: Origin;
}

/** An invalid setting. */
export interface ConfigFault {
  /** Dotted path of the key; empty if the fault concerns a whole file. */
  readonly path: string;
  /** Completes "path …": `must be an integer`. Never contains a secret's value. */
  readonly message: string;
  readonly origin: Origin | null;
}

/** All faults of all sources at once, so that they can be fixed in one go. */
export class ConfigError extends AppError {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const title =
      faults.length === 1 ? 'The configuration has a fault:' : `The configuration has ${faults.length} faults:`;
    super({
      code: 'CONFIG_INVALID',
      status: 500,
      message: [title, ...faults.map((fault) => `  ${renderFault(fault)}`)].join('\n'),
      details: { faults },
    });
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Renders one line: `http.port must be <= 65535 but is 70000 (SVC_HTTP_PORT)`. */
export function renderFault(fault: ConfigFault): string {
  const subject = fault.path === '' ? '' : `${fault.path} `;
  return `${subject}${fault.message}${fault.origin === null ? '' : ` (${fault.origin.where})`}`;
}
