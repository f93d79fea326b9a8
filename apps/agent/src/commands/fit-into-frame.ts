import { PROTOCOL_LIMITS, type CommandResult } from '@svc/protocol';

/** Room for the envelope and for what JSON adds. */
const LIMIT_BYTES = PROTOCOL_LIMITS.frameSizeBytes - 16_384;

/** A result must fit into one frame, or it could never arrive: the least important goes first, and it says so. */
export function fitIntoFrame(result: CommandResult): CommandResult {
  if (sizeOf(result) <= LIMIT_BYTES) return result;
  const withoutDiffs = withResources(result, ({ diff: _diff, ...resource }) => resource);
  if (sizeOf(withoutDiffs) <= LIMIT_BYTES)
    return warned(withoutDiffs, 'differences were left out: the result was too large');
  const withoutWords = withResources(withoutDiffs, ({ message: _message, error, ...resource }) => ({
    ...resource,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message.slice(0, 200) } }),
  }));
  return warned(withoutWords, 'messages were shortened: the result was too large');
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
