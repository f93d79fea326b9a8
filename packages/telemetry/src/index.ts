export { createLogger, type Logger, type LoggerOptions, type LogFormat, type LogLevel } from './logger.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { REDACTED, redactText } from './redact.ts';
