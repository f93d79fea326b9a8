import type { McpServer } from '@modelcontextprotocol/server';
import type { Sandbox } from '@svc/sdk';
import { z } from 'zod';
import { CommandFailure } from '../client/command-failure.ts';
import { addTool, describeSandbox, sandboxArgument, type ToolCall, type ToolContext } from './tool.ts';

const MAX_LISTED = 100;
const POLL_EVERY_MS = 2_000;

const newSandbox = z.object({
  image: z.string().optional().describe('Image name from list_images, such as ubuntu, debian, node, python or busybox'),
  snapshot_id: z.string().optional().describe('Snapshot to create the sandbox from, instead of an image'),
  name: z.string().optional().describe('Letters, digits, - and _; generated if omitted'),
  environment: z.record(z.string(), z.string()).optional().describe('Environment variables for every process'),
  network: z.enum(['egress', 'none']).optional().describe('egress: public internet only; none: no network'),
  idle_timeout_seconds: z
    .number()
    .int()
    .min(10)
    .optional()
    .describe('Stop the sandbox after this many seconds without use'),
  max_lifetime_seconds: z.number().int().min(10).optional().describe('Delete the sandbox after this many seconds'),
});

/** Tools for the lifecycle of sandboxes. */
export function addSandboxTools(server: McpServer, context: ToolContext): void {
  const { sandboxes, find } = context.session;
  addTool(server, {
    name: 'create_sandbox',
    title: 'Create a sandbox',
    description: 'Create an isolated Linux machine and return once it is running. Pass either image or snapshot_id.',
    input: newSandbox,
    async run(request, call) {
      if ((request.image === undefined) === (request.snapshot_id === undefined)) {
        throw new CommandFailure('pass either image or snapshot_id', { hint: 'list_images shows the images' });
      }
      const sandbox = await sandboxes.create(request, { waitMs: 0, signal: call.signal });
      context.made.add(sandbox.id);
      await untilRunning(sandbox, call);
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'list_images',
    title: 'List images',
    description: 'List available images. The first sandbox from an uncached image takes longer.',
    input: z.object({ all: z.boolean().optional().describe('Include rarely used images') }),
    readOnly: true,
    async run({ all = false }, { signal }) {
      const images = await sandboxes.images({ all, signal });
      return {
        images: images.map(({ name, aliases, description, cached }) => ({ name, aliases, description, cached })),
      };
    },
  });
  addTool(server, {
    name: 'list_sandboxes',
    title: 'List sandboxes',
    description: `List the newest ${MAX_LISTED} sandboxes of the workspace.`,
    input: z.object({ status: z.enum(['creating', 'running', 'stopped', 'error']).optional() }),
    readOnly: true,
    async run({ status }, { signal }) {
      const { items, limit, nextCursor } = await sandboxes.page({ status, pageSize: MAX_LISTED }, { signal });
      const listed = items.map(({ id, name, image, status: state, created_at: at }) => ({
        id,
        name,
        image,
        status: state,
        created_at: at,
      }));
      const note =
        nextCursor === null ? {} : { note: `There are more than ${MAX_LISTED}; only the newest are listed.` };
      return { sandboxes: listed, limit, ...note };
    },
  });
  addStateTools(server, context);
  addTool(server, {
    name: 'create_snapshot',
    title: 'Create a snapshot',
    description: 'Snapshot the files of a sandbox. Pass its snapshot_id to create_sandbox to create copies.',
    input: z.object({ sandbox: sandboxArgument, name: z.string().optional() }),
    async run({ sandbox, name }, { signal }) {
      return { ...(await (await find(sandbox)).snapshot({ signal, ...(name !== undefined && { name }) })) };
    },
  });
  addTool(server, {
    name: 'preview_url',
    title: 'Preview a port',
    description: 'Get a temporary browser URL for a port of the sandbox.',
    input: z.object({
      sandbox: sandboxArgument,
      port: z.number().int().min(1).max(65_535),
      expires_in_seconds: z.number().int().min(1).optional().describe('3600 by default'),
    }),
    async run({ sandbox, port, expires_in_seconds: expiresInSeconds }, { signal }) {
      const options = { signal, ...(expiresInSeconds !== undefined && { expiresInSeconds }) };
      return { ...(await (await find(sandbox)).previewPort(port, options)) };
    },
  });
}

function addStateTools(server: McpServer, { session: { find }, made }: ToolContext): void {
  addTool(server, {
    name: 'start_sandbox',
    title: 'Start a sandbox',
    description: 'Start a sandbox that is stopped or in error. Files are kept; processes are not.',
    input: z.object({ sandbox: sandboxArgument }),
    async run({ sandbox: name }, call) {
      const sandbox = await find(name);
      await sandbox.start({ signal: call.signal });
      await untilRunning(sandbox, call);
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'stop_sandbox',
    title: 'Stop a sandbox',
    description: 'Stop a sandbox: kill all processes and keep the files.',
    input: z.object({ sandbox: sandboxArgument }),
    async run({ sandbox: name }, { signal }) {
      const sandbox = await find(name);
      await sandbox.stop({ signal });
      return describeSandbox(sandbox);
    },
  });
  addTool(server, {
    name: 'delete_sandbox',
    title: 'Delete a sandbox',
    description: 'Delete a sandbox and all of its files permanently.',
    input: z.object({ sandbox: sandboxArgument }),
    destructive: true,
    async run({ sandbox: name }, { signal }) {
      const sandbox = await find(name);
      await sandbox.delete({ signal });
      made.delete(sandbox.id);
      return { id: sandbox.id, deleted: true };
    },
  });
}

/** Reports progress, since downloading an image takes minutes. */
async function untilRunning(sandbox: Sandbox, { signal, progress }: ToolCall): Promise<void> {
  while (sandbox.status === 'creating') {
    const info = await sandbox.waitFor('running', { signal, timeoutMs: POLL_EVERY_MS });
    const { image_progress: image } = info;
    progress(image?.message ?? 'Starting the sandbox');
  }
  if (sandbox.status === 'running') return;
  const reason = sandbox.info.error?.message ?? sandbox.status;
  throw new CommandFailure(`the sandbox ${sandbox.id} could not be created: ${reason}`, {
    hint: 'retry with start_sandbox, or remove it with delete_sandbox',
  });
}
