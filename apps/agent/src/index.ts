export type { AgentDependencies } from './assemble-agent.ts';
export { startAgent, type Agent } from './agent.ts';
export { readBuildInfo, type BuildInfo } from './build-info.ts';
export { publishedSchema, runAgentCommand, type CommandLine } from './command-line.ts';
export { LiveConfig } from './config/live-config.ts';
export { loadAgentConfig, type AgentConfigSource, type LoadedAgentConfig } from './config/load.ts';
export { agentConfigSchema, type AgentConfig } from './config/schema.ts';
