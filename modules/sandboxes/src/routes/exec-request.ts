import { sandboxErrors } from '../errors.ts';
import type { CommandRequest } from '../domain/exec/command.ts';
import type { ExecBody } from './exec-schemas.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

export interface ExecRequest extends CommandRequest {
  /** The command as the caller sent it. */
  readonly command: string | string[];
  readonly encoding: 'utf-8' | 'base64';
  readonly timeoutSeconds: number;
}

/** A string runs as a shell script, a list runs directly. Throws INVALID_FIELD. */
export function toExecRequest(body: ExecBody): ExecRequest {
  const command = chooseOne(body, 'command', 'cmd');
  if (command === undefined) throw invalid('command', 'is missing');
  const user = body.user ?? '';
  const timeoutSeconds = body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS;
  return {
    command,
    argv: typeof command === 'string' ? ['sh', '-c', command] : command,
    env: parseVariables(body.env),
    cwd: chooseOne(body, 'workdir', 'cwd') ?? null,
    user: ['root', '0', ''].includes(user) ? null : user,
    stdin: parseInput(body),
    encoding: body.encoding ?? 'utf-8',
    timeoutSeconds,
    timeoutMs: timeoutSeconds * 1000,
  };
}

function chooseOne<Name extends 'command' | 'workdir', Other extends 'cmd' | 'cwd'>(
  body: ExecBody,
  name: Name,
  other: Other,
): ExecBody[Name] | ExecBody[Other] {
  if (body[name] !== undefined && body[other] !== undefined) throw invalid(other, `is given beside ${name}`);
  return body[name] ?? body[other];
}

function parseVariables(given: ExecBody['env']): Record<string, string> {
  if (!Array.isArray(given)) return given ?? {};
  return Object.fromEntries(
    given.map((variable) => {
      const at = variable.indexOf('=');
      return [variable.slice(0, at), variable.slice(at + 1)];
    }),
  );
}

function parseInput({ stdin = '', stdin_encoding: encoding = 'utf-8' }: ExecBody): Buffer {
  if (encoding === 'utf-8') return Buffer.from(stdin, 'utf8');
  const bytes = Buffer.from(stdin, 'base64');
  // Reject input that a decoder would have to guess.
  if (bytes.toString('base64') !== stdin) throw invalid('stdin', 'is not canonical base64');
  return bytes;
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
