import type { CallToolResult, McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Sandbox } from '@svc/sdk';
import { z } from 'zod';
import { describeExpected } from '../failure.ts';
import type { SandboxSession } from '../commands/sandbox/with-sandboxes.ts';

/** Shared state of all tools. */
export interface ToolContext {
  readonly session: Pick<SandboxSession, 'sandboxes' | 'find'>;
  /** Ids of sandboxes created in this session. */
  readonly made: Set<string>;
}

/** A tool call; the client may cancel it and may request progress. */
export interface ToolCall {
  readonly signal: AbortSignal;
  /** Reports progress, at most once per second, to clients that requested it. */
  progress(message: string): void;
}

interface ToolDefinition<Input> {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Input>;
  /** Changes nothing. */
  readOnly?: boolean;
  /** Deletes data permanently. */
  destructive?: boolean;
  run(input: Input, call: ToolCall): Promise<Readonly<Record<string, unknown>>>;
}

export const sandboxArgument = z.string().min(1).describe('Name or id of the sandbox');
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .describe('Path in the sandbox: absolute, or relative to the home directory');

const PROGRESS_EVERY_MS = 1_000;

/** Registers a tool whose errors are results that a model can act on, not protocol errors. */
export function addTool<Input>(server: McpServer, tool: ToolDefinition<Input>): void {
  const { name, title, description, input, readOnly = false, destructive = false } = tool;
  const annotations = { title, readOnlyHint: readOnly, destructiveHint: destructive, openWorldHint: false };
  const run = async (given: Input, context: ServerContext): Promise<CallToolResult> => {
    try {
      return createAnswer(await tool.run(given, createCall(context)));
    } catch (error) {
      context.mcpReq.signal.throwIfAborted();
      const message = describeExpected(error);
      if (message === null) throw error;
      return { content: [{ type: 'text', text: message }], isError: true };
    }
  };
  server.registerTool(name, { title, description, inputSchema: input, annotations }, run);
}

/** Returns text for readers and an object for programs. */
function createAnswer(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}

function createCall({ mcpReq }: ServerContext): ToolCall {
  const { _meta: meta } = mcpReq;
  const token = meta?.progressToken;
  let toldAtMs = -PROGRESS_EVERY_MS;
  let progress = 0;
  return {
    signal: mcpReq.signal,
    progress(message) {
      const nowMs = performance.now();
      if (token === undefined || nowMs - toldAtMs < PROGRESS_EVERY_MS) return;
      toldAtMs = nowMs;
      progress += 1;
      const params = { progressToken: token, progress, message };
      // The transport detects a disconnected client.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

/** Summarizes a sandbox; `svc sandbox get` shows all fields. */
export function describeSandbox({ info }: Sandbox): Readonly<Record<string, unknown>> {
  const { id, name, image, status, error, created_at: createdAt, expires_at: expiresAt } = info;
  return { id, name, image, status, created_at: createdAt, expires_at: expiresAt, ...(error !== null && { error }) };
}
