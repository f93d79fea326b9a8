import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { prettyLine } from './pretty-line.ts';
import { describeError, redactFields } from './redact-fields.ts';
import { REDACTED, redactText } from './redact.ts';

/** A pino logger. Create it with `createLogger`, which redacts secrets. */
export type Logger = PinoLogger;
/** Minimum level of lines that are written; `silent` writes none. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** `auto`: pretty on a terminal, JSON otherwise. */
export type LogFormat = 'auto' | 'json' | 'pretty';

/** Options of a logger. */
export interface LoggerOptions {
  level: LogLevel;
  name: string;
  /** Defaults to stderr, since stdout belongs to the command's result. */
  destination?: DestinationStream;
  /** Defaults to `auto`; a custom destination is never a terminal. */
  format?: LogFormat;
}

/**
 * Creates a logger with JSON or pretty lines. It never writes secrets, whoever logs: fields with secret names are
 * redacted at every depth, and the finished line is scanned for tokens anywhere (a URL, a foreign error's message).
 */
export function createLogger(options: LoggerOptions): Logger {
  const isTerminal = options.destination === undefined && process.stderr.isTTY;
  const isPretty = options.format === 'pretty' || ((options.format ?? 'auto') === 'auto' && isTerminal);
  const colors = isTerminal && process.stderr.hasColors();
  return pino(
    {
      level: options.level,
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      // `formatters.log` has already converted errors to plain objects; this covers bindings of child loggers.
      serializers: { err: (value: unknown) => (value instanceof Error ? describeError(value) : value) },
      hooks: { streamWrite: (line) => (isPretty ? prettyLine(redactLine(line), colors) : redactLine(line)) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

const SECRET_NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:current_|new_)?password|(?:client_)?secret|secretAccessKey|' +
  '(?:access_|refresh_|id_|agent_|csrf_|x-csrf-)?token|ticket|api_key|privateKey|sec-websocket-protocol';

/** Secret fields that formatters don't see: bindings of child loggers and results of `toJSON`. */
const SECRET_PAIRS = new RegExp(String.raw`("(?:${SECRET_NAMES})":")(?:[^"\\]|\\.)+`, 'gi');

/** The same inside embedded JSON, such as a foreign response body in an error's message. */
const QUOTED_SECRET_PAIRS = new RegExp(String.raw`(\\"(?:${SECRET_NAMES})\\":\s*\\")[^"\\]+`, 'gi');

function redactLine(line: string): string {
  return redactText(line.replace(SECRET_PAIRS, `$1${REDACTED}`).replace(QUOTED_SECRET_PAIRS, `$1${REDACTED}`));
}
