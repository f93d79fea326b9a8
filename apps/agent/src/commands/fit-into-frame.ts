import { PROTOCOL_LIMITS, type CommandResult } from '@svc/protocol';

/** Room for the envelope and JSON overhead. */
const ROOM_BYTES = 16_384;

/**
 * A result must fit into one frame to be delivered: drops the least important parts first and marks the result as
 * truncated.
 */
export function fitIntoFrame(
  result: CommandResult,
  frameSizeBytes: number = PROTOCOL_LIMITS.frameSizeBytes,
): CommandResult {
  const limitBytes = frameSizeBytes - ROOM_BYTES;
  if (sizeOf(result) <= limitBytes) return result;
  const withoutDiffs = withResources(result, ({ diff: _diff, ...resource }) => resource);
  if (sizeOf(withoutDiffs) <= limitBytes)
    return warned(withoutDiffs, 'differences were omitted: the result was too large');
  const withoutMessages = withResources(withoutDiffs, ({ message: _message, error, ...resource }) => ({
    ...resource,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message.slice(0, 200) } }),
  }));
  if (sizeOf(withoutMessages) <= limitBytes)
    return warned(withoutMessages, 'messages were shortened: the result was too large');
  return outlineOf(withoutMessages, limitBytes);
}

/** Lists failed resources before the others, as many as fit. */
function outlineOf({ exec, deploy, ...result }: CommandResult, limitBytes: number): CommandResult {
  if (exec !== undefined) {
    const { stdout: _stdout, stderr: _stderr, encoding: _encoding, ...numbers } = exec;
    return { ...result, exec: { ...numbers, truncated: true } };
  }
  if (deploy === undefined) return result;
  const resources = deploy.resources.toSorted((a, b) => Number(b.action === 'failed') - Number(a.action === 'failed'));
  let leftBytes = limitBytes - ROOM_BYTES;
  const fitting = resources.findIndex((resource) => (leftBytes -= Buffer.byteLength(JSON.stringify(resource))) < 0);
  const kept = fitting === -1 ? resources : resources.slice(0, fitting);
  return warned(
    { ...result, deploy: { ...deploy, resources: kept } },
    `${resources.length - kept.length} resources were omitted: the result was too large`,
  );
}

type Resources = NonNullable<CommandResult['deploy']>['resources'];

function withResources(
  result: CommandResult,
  change: (resource: Resources[number]) => Resources[number],
): CommandResult {
  if (result.deploy === undefined) return result;
  return { ...result, deploy: { ...result.deploy, resources: result.deploy.resources.map(change) } };
}

function warned(result: CommandResult, warning: string): CommandResult {
  if (result.deploy === undefined) return result;
  return { ...result, deploy: { ...result.deploy, warnings: [warning] } };
}

function sizeOf(result: CommandResult): number {
  return Buffer.byteLength(JSON.stringify(result));
}
