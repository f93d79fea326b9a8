import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { prettyLine } from './pretty-line.ts';
import { describeError, redactFields } from './redact-fields.ts';
import { REDACTED, redactText } from './redact.ts';

export type Logger = PinoLogger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** `auto`: for people on a terminal, JSON anywhere else. */
export type LogFormat = 'auto' | 'json' | 'pretty';

export interface LoggerOptions {
  level: LogLevel;
  name: string;
  /** Where lines go; standard error by default, since standard output belongs to the command's own answer. */
  destination?: DestinationStream;
  /** `auto` by default; a destination of one's own is never a terminal. */
  format?: LogFormat;
}

/**
 * JSON lines, or lines for people. No secret leaves through it, whoever logs: fields with secret names are censored at every depth, and the
 * finished line is searched once more for what looks like a token, wherever it stands (a URL, a foreign error's message).
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
      // `formatters.log` has made a plain object of an error already; this one is for bindings of child loggers.
      serializers: { err: (value: unknown) => (value instanceof Error ? describeError(value) : value) },
      hooks: { streamWrite: (line) => (isPretty ? prettyLine(redactLine(line), colors) : redactLine(line)) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

const SECRET_NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:current_|new_)?password|(?:client_)?secret|secretAccessKey|' +
  '(?:access_|refresh_|id_|agent_|csrf_|x-csrf-)?token|ticket|api_key|privateKey|sec-websocket-protocol';

/** Secret fields that no formatter sees: bindings of child loggers and what a class instance's `toJSON` gives. */
const SECRET_PAIRS = new RegExp(String.raw`("(?:${SECRET_NAMES})":")(?:[^"\\]|\\.)+`, 'gi');

/** The same inside a text that holds JSON, such as the body of a foreign answer in an error's message. */
const QUOTED_SECRET_PAIRS = new RegExp(String.raw`(\\"(?:${SECRET_NAMES})\\":\s*\\")[^"\\]+`, 'gi');

function redactLine(line: string): string {
  return redactText(line.replace(SECRET_PAIRS, `$1${REDACTED}`).replace(QUOTED_SECRET_PAIRS, `$1${REDACTED}`));
}
