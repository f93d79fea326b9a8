import type { Channel } from './channel.ts';
import { CLUSTER_CHANNELS } from './cluster-channels.ts';
import { MCP_CHANNELS } from './mcp-channels.ts';
import { PORT_CHANNELS } from './port-channels.ts';
import { SANDBOX_CHANNELS } from './sandbox-channels.ts';
import { STORE_CHANNELS } from './store-channels.ts';

/** Everything that a credential of the API opens, itself or by what was made with it. */
export const CHANNELS: Readonly<Record<string, Channel>> = {
  ...SANDBOX_CHANNELS,
  ...PORT_CHANNELS,
  ...CLUSTER_CHANNELS,
  ...STORE_CHANNELS,
  ...MCP_CHANNELS,
};
