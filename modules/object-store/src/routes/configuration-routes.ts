import { grantOf, type HttpApp } from '@svc/http';
import type { BucketConfiguration } from '../domain/bucket-configurations.ts';
import { checkLifecycleRules } from '../domain/lifecycle/check-lifecycle.ts';
import { parseLifecycleDocument } from '../domain/lifecycle/lifecycle-document.ts';
import { editDocuments, type DocumentChange } from '../domain/settings/edit-documents.ts';
import { bucketResource } from './audit-names.ts';
import { envelope } from './envelope.ts';
import { lifecycleBody, lifecycleView } from './lifecycle-schemas.ts';
import { readLifecycleRules, toLifecycleView } from './lifecycle-view.ts';
import type { ManagementDeps } from './management-deps.ts';
import { bucketParams, createEnvelopeSchema, TAGS, teamQuery } from './schemas.ts';
import { settingsBody, settingsView } from './settings-schemas.ts';
import { mergeSettings, toSettingsView } from './settings-view.ts';

const route = { tags: TAGS, params: bucketParams, querystring: teamQuery };

/** Settings and lifecycle of a bucket. Versioning and location have their own routes. */
export function registerConfigurationRoutes(app: HttpApp, management: ManagementDeps): void {
  registerSettingsRoutes(app, management);
  registerLifecycleRoutes(app, management);
}

function registerSettingsRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, configurations, deps } = services;
  const retentionDays = deps.config.soft_delete_days;
  const response = { 200: createEnvelopeSchema(settingsView) };

  app.get(
    '/buckets/:name/settings',
    {
      config: { action: 'bucket:read' },
      schema: { ...route, summary: 'Get the settings of a bucket, including defaults', response },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const configuration = await configurations.of(bucket);
      return envelope('Settings', toSettingsView(configuration, retentionDays));
    },
  );

  app.put(
    '/buckets/:name/settings',
    {
      config: { action: 'bucket:update', auditResource: bucketResource },
      schema: {
        ...route,
        summary: 'Change settings; omitted fields keep their value, and null resets to the default',
        body: settingsBody,
        response,
      },
    },
    async (request) => {
      const { configuration } = await edit(services, request.params.name, grantOf(request).workspaceUuid, (before) =>
        mergeSettings(before, request.body, services.notifications),
      );
      return envelope('Settings changed', toSettingsView(configuration, retentionDays));
    },
  );
}

function registerLifecycleRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, configurations } = services;
  const response = { 200: createEnvelopeSchema(lifecycleView) };

  app.get(
    '/buckets/:name/lifecycle',
    {
      config: { action: 'bucket:read' },
      schema: { ...route, summary: 'List the lifecycle rules of a bucket', response },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const document = (await configurations.of(bucket)).parsed('lifecycle', parseLifecycleDocument);
      return envelope('Lifecycle', toLifecycleView(document?.rules ?? []));
    },
  );

  app.put(
    '/buckets/:name/lifecycle',
    {
      config: { action: 'bucket:update', auditResource: bucketResource },
      schema: {
        ...route,
        summary: 'Replace the lifecycle rules; also accepts the AWS and R2 formats',
        body: lifecycleBody,
        response,
      },
    },
    async (request) => {
      const rules = readLifecycleRules(request.body);
      checkLifecycleRules(rules);
      const document = rules.length === 0 ? null : JSON.stringify({ rules });
      await edit(services, request.params.name, grantOf(request).workspaceUuid, () => [
        { name: 'lifecycle', document },
      ]);
      return envelope('Lifecycle changed', toLifecycleView(rules));
    },
  );

  app.delete(
    '/buckets/:name/lifecycle',
    {
      config: { action: 'bucket:update', auditResource: bucketResource },
      schema: { ...route, summary: 'Remove all lifecycle rules', response },
    },
    async (request) => {
      const { name } = request.params;
      await edit(services, name, grantOf(request).workspaceUuid, () => [{ name: 'lifecycle', document: null }]);
      return envelope('Lifecycle removed', { rules: [] });
    },
  );
}

function edit(
  services: ManagementDeps['services'],
  name: string,
  workspaceUuid: string,
  change: (before: BucketConfiguration) => readonly DocumentChange[],
): Promise<{ configuration: BucketConfiguration }> {
  const { deps, configurations, buckets } = services;
  return editDocuments(
    { metadata: deps.metadata, configurations, clock: deps.clock },
    { find: () => buckets.getOwn(name, workspaceUuid), edit: change },
  );
}
