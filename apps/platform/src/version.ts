import manifest from '../../../package.json' with { type: 'json' };

/** The product version, shared by platform, command and agent. */
export const VERSION: string = manifest.version;
