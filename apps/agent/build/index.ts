export { archiveNameOf, readAgentStamp } from './agent-stamp.ts';
export { bundleAgent, bundleCheckout } from './bundle.ts';
export { AGENT_NODE_FLAGS } from '../src/node-flags.ts';
export { buildBinary } from './single-binary.ts';

export { buildImage } from './image.ts';
export { ARCHITECTURES, type Architecture } from '@svc/packaging';
