/** Channel of `publishEvents` for sandboxes that changed or have new events; its ids are `WORKSPACE/SANDBOX`. */
export const SANDBOX_CHANNEL = 'sandbox';

/** Channel of nodes whose drain begins or ends; its ids are nodes. */
export const NODE_CHANNEL = 'sandbox_node';

/** Channel of new sandboxes whose node is another one than the one that recorded them; its ids are `NODE/SANDBOX`. */
export const CLUSTER_START_CHANNEL = 'sandbox_cluster_start';

export function sandboxEventId({ workspaceUuid, sandboxId }: { workspaceUuid: string; sandboxId: string }): string {
  return `${workspaceUuid}/${sandboxId}`;
}

export function parseSandboxEventId(id: string): { workspaceUuid: string; sandboxId: string } {
  const [workspaceUuid = '', sandboxId = ''] = id.split('/');
  return { workspaceUuid, sandboxId };
}
