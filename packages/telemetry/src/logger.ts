import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LoggerOptions {
  level: LogLevel;
  name: string;
  /** Where lines go; standard error by default, since standard output belongs to the command's own answer. */
  destination?: DestinationStream;
}

/** Names of fields that never reach a log, at the top and one level down. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  '"set-cookie"',
  'password',
  'secret',
  'secretAccessKey',
  'token',
  'access_token',
  '"x-csrf-token"',
  'ticket',
];

export function createLogger(options: LoggerOptions): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field.startsWith('"') ? `[${field}]` : field, nested(field)]);
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '***REDACTED***' },
      formatters: { level: (label) => ({ level: label }) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

function nested(field: string): string {
  return field.startsWith('"') ? `*[${field}]` : `*.${field}`;
}
