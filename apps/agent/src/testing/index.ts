export { startTestAgent, type TestAgent, type TestAgentOptions } from './test-agent.ts';
export { TestPlatform, type TestConnection, type TestPlatformOptions } from './test-platform.ts';
