import { McpServer } from '@modelcontextprotocol/server';
import { addCommandTools } from './command-tools.ts';
import { addFileTools } from './file-tools.ts';
import type { LocalFolder } from './local-folder.ts';
import { addSandboxTools } from './sandbox-tools.ts';
import type { ToolContext } from './tool.ts';
import { addTransferTools } from './transfer-tools.ts';

const INSTRUCTIONS = `Sandboxes are isolated Linux machines: make one with create_sandbox, work in it as root with run_command and the
file tools, and delete it with delete_sandbox when it is no longer needed. A sandbox keeps its files until it is deleted; each command
is a new process, so pass cwd and environment each time. Outputs are bounded: what is left out is named, and read_file with an offset
reads on.`;

/** Creates the server for one client. `folder` is the accessible local folder; null for none. */
export function createMcpServer(version: string, context: ToolContext, folder: LocalFolder | null): McpServer {
  const server = new McpServer(
    { name: 'svc-sandboxes', title: 'svc sandboxes', version },
    { instructions: INSTRUCTIONS },
  );
  addSandboxTools(server, context);
  addCommandTools(server, context);
  addFileTools(server, context);
  if (folder !== null) addTransferTools(server, context, folder);
  return server;
}
