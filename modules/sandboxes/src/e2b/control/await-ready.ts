import { isAppError } from '@svc/errors';
import { pause, type Clock } from '@svc/runtime';
import type { CommandService } from '../../domain/exec/command-service.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import { shellCommand } from '../../domain/templates/build-plan.ts';
import type { TemplateService } from '../../domain/templates/template-service.ts';

const LIMIT_MS = 30_000;
const INTERVAL_MS = 50;

export interface AwaitReadyDeps {
  readonly commands: Pick<CommandService, 'run'>;
  readonly templates: Pick<TemplateService, 'readyCommand'>;
  readonly clock: Clock;
}

/**
 * Waits until the start command of a new sandbox's template is ready: clients use it at once, because with E2B it already
 * runs when the sandbox is created. Gives up after a time, and leaves the sandbox as it is.
 */
export async function awaitReady(
  { commands, templates, clock }: AwaitReadyDeps,
  { id, workspaceUuid, template, status }: Pick<Sandbox, 'id' | 'workspaceUuid' | 'template' | 'status'>,
  signal: AbortSignal,
): Promise<void> {
  if (status !== 'running' || template === null || template.buildId === null || template.startCommand === null) return;
  const ready = await templates.readyCommand(template.buildId);
  if (ready === null) return;
  const place = { env: {}, cwd: template.workingFolder, user: template.user, stdin: new Uint8Array() };
  const untilMs = clock.nowMs() + LIMIT_MS;
  for (let leftMs = LIMIT_MS; leftMs > 0 && !signal.aborted; leftMs = untilMs - clock.nowMs()) {
    const command = { ...place, argv: shellCommand(ready), timeoutMs: leftMs };
    const silent = { output: (_bytes: Buffer, _channel: unknown, done: () => void) => done() };
    const end = await commands.run(workspaceUuid, id, command, silent, signal).catch((error: unknown) => {
      if (isAppError(error) || signal.aborted) return null; // the sandbox was stopped, or the client has left
      throw error;
    });
    if (end === null || end.exitCode === 0) return;
    await pause(clock, INTERVAL_MS, signal);
  }
}
