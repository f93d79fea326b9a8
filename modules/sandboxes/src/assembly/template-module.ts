import { join } from 'node:path';
import { BackgroundLoop } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { Metrics } from '@svc/telemetry';
import { UploadStore } from '../adapters/templates/upload-store.ts';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { CommandService } from '../domain/exec/command-service.ts';
import type { FileService } from '../domain/files/file-service.ts';
import type { ImageCatalog } from '../domain/images/catalog.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import type { SandboxNodes } from '../domain/ports.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { BuildNodes } from '../domain/templates/build-nodes.ts';
import { TemplateBuilder } from '../domain/templates/template-builder.ts';
import { TemplateService } from '../domain/templates/template-service.ts';
import { createNodeRepository } from '../store/node-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createTemplateRepository } from '../store/template-repository.ts';

const MEBIBYTE = 1024 * 1024;
const MINUTE_MS = 60_000;

export interface TemplatePartOptions {
  readonly database: Database<SandboxTables>;
  readonly context: SandboxContext;
  readonly service: SandboxService;
  readonly files: FileService;
  readonly commands: CommandService;
  readonly catalog: ImageCatalog;
  readonly isolation: IsolationPolicy;
  readonly nodes: Pick<SandboxNodes, 'silent' | 'live'>;
  readonly config: SandboxesConfig;
  /** The module's folder in the data folder. */
  readonly folder: string;
}

export interface TemplatePart {
  readonly templates: TemplateService;
  readonly buildNodes: BuildNodes;
  /** Ends what an earlier process left, and sweeps from then on. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Templates, their builds, and the files that these copy from. */
export function createTemplatePart(options: TemplatePartOptions): TemplatePart {
  const { database, context, service, isolation, nodes, config, folder } = options;
  const repository = createTemplateRepository(database.kysely);
  const limits = config.templates;
  const uploads = new UploadStore({
    folder: join(folder, 'template-files'),
    maxBytes: limits.max_files_mb * MEBIBYTE,
    maxWorkspaceBytes: limits.max_workspace_files_mb * MEBIBYTE,
    disk: context.disk,
  });
  const deps = { context, repository, service, uploads, keptDays: limits.kept_days, nodes };
  const templates: TemplateService = new TemplateService(
    deps,
    (changed) =>
      new TemplateBuilder({
        ...options,
        repository,
        uploads,
        changed,
        network: config.network,
        isolation: () => isolation.default,
        resolve: (workspaceUuid, reference) => templates.resolve(workspaceUuid, reference),
        limitMs: limits.max_minutes * MINUTE_MS,
      }),
  );
  const sweeping = new BackgroundLoop({
    run: () => templates.sweep(),
    intervalMs: MINUTE_MS,
    onError: (err) => context.log.error({ err }, 'the sweep of templates failed'),
    clock: context.clock,
  });
  return {
    templates,
    buildNodes: new BuildNodes({ context, repository, openNodes: createNodeRepository(database), nodes }),
    start: async () => {
      await templates.reconcile();
      sweeping.start();
    },
    close: async () => {
      await sweeping.close();
      await templates.close();
    },
  };
}

export function observeTemplates(metrics: Metrics, templates: TemplateService): void {
  metrics.observableGauge(
    'svc_sandbox_template_builds',
    'Template builds under way or queued on this node',
    () => templates.buildsUnderWay,
  );
}
