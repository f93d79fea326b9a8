import manifest from '../../../package.json' with { type: 'json' };

/** The version of the product, the same for the platform, the command and the agent. */
export const VERSION: string = manifest.version;
