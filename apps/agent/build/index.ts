export { ARCHITECTURES, archiveNameOf, type Architecture } from './architecture.ts';
export { bundleAgent } from './bundle.ts';
export { readBuildStamp } from './build-stamp.ts';
export { AGENT_NODE_FLAGS } from './node-flags.ts';
export { buildBinary } from './single-binary.ts';

export { buildImage } from './image.ts';
