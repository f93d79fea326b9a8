export { configKeys, type ConfigAnnotations, type ConfigKey } from './config-key.ts';
export { durationSchema, parseDurationMs } from './duration.ts';
export { type Environment, type ReadTextFile } from './environment-source.ts';
export { ConfigError, renderFault, type ConfigFault, type Origin } from './fault.ts';
export { type FlagValue } from './flag-source.ts';
export { configJsonSchema, configReference, type JsonSchemaOptions, type ReferenceRow } from './json-schema.ts';
export { loadConfig, type LoadConfigOptions, type LoadedConfig } from './load.ts';
export { REDACTED, redactConfig } from './redact.ts';
export { renderConfig, shownKeys, type ShownKey } from './show.ts';
