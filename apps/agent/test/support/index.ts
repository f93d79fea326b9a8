export { systemClock } from '@svc/runtime';
export { createExecHandler } from '../../src/exec/exec-handler.ts';
export { startTestAgent, type TestAgent, type TestAgentOptions } from './test-agent.ts';
export { TestPlatform, type TestConnection, type TestPlatformOptions } from './test-platform.ts';
export { createAgentCrowd } from './agent-crowd.ts';
export { PlayedKubernetes } from './played-kubernetes.ts';
export { backoffDelayMs } from '../../src/channel/backoff.ts';
export { loadAgentConfig } from '../../src/config/load.ts';
