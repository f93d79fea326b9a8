import { defineOperation, type BucketHandler } from '../operation.ts';
import {
  parseWebsiteDocument,
  type RoutingRule,
  type WebsiteDocument,
  type WebsiteTarget,
} from '../../domain/website/website-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { children, childText, parseXml, type XmlElement } from '../xml-reader.ts';
import type { XmlNode } from '../xml-writer.ts';

const MAX_DOCUMENT_BYTES = 128 * 1024;
const MAX_RULES = 50;

interface CodeRule {
  readonly pattern: RegExp;
  readonly called: string;
  readonly valid: string;
}

const ERROR_CODE: CodeRule = { pattern: /^[45]\d\d$/, called: 'error', valid: '4XX or 5XX' };
const REDIRECT_CODE: CodeRule = { pattern: /^30[1-57-8]$/, called: 'redirect', valid: '3XX except 300' };

const getBucketWebsite: BucketHandler = async (context) => {
  const configuration = await context.services.configurations.of(context.bucket);
  const document = configuration.parsed('website', parseWebsiteDocument);
  if (document === null) throw storeErrors.NoSuchWebsiteConfiguration();
  const { index, error, redirectAllTo, routingRules } = document;
  respondXml(context.response, 'WebsiteConfiguration', {
    IndexDocument: index === undefined ? undefined : { Suffix: index },
    ErrorDocument: error === undefined ? undefined : { Key: error },
    RedirectAllRequestsTo:
      redirectAllTo === undefined ? undefined : { HostName: redirectAllTo.hostName, Protocol: redirectAllTo.protocol },
    RoutingRules: routingRules === undefined ? undefined : { RoutingRule: routingRules.map(toElement) },
  });
};

const putBucketWebsite: BucketHandler = async (context) => {
  const document = readWebsiteDocument(await receiveDocument(context, MAX_DOCUMENT_BYTES));
  await context.services.configurations.put(context.bucket, 'website', JSON.stringify(document));
  respondEmpty(context.response, 200);
};

const deleteBucketWebsite: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'website', null);
  respondEmpty(context.response, 204);
};

function readWebsiteDocument(xml: string): WebsiteDocument {
  const root = parseXml(xml, 'WebsiteConfiguration');
  const index = only(root, 'IndexDocument');
  const error = only(root, 'ErrorDocument');
  const all = only(root, 'RedirectAllRequestsTo');
  const rules = only(root, 'RoutingRules');
  if (all !== null) {
    if (index !== null || error !== null || rules !== null) {
      throw storeErrors.MalformedXML(); // either all requests, or by rules
    }
    const { hostName, protocol } = readTarget(all);
    if (hostName === undefined) throw storeErrors.MalformedXML();
    return { redirectAllTo: { hostName, ...(protocol === undefined ? {} : { protocol }) } };
  }
  const suffix = index === null ? undefined : childText(index, 'Suffix');
  if (suffix === undefined) {
    throw invalidArgument('A value for IndexDocument Suffix must be provided', 'IndexDocument', 'null');
  }
  if (suffix === '' || suffix.includes('/')) {
    throw invalidArgument('The IndexDocument Suffix is not well formed', 'IndexDocument', suffix);
  }
  const errorKey = error === null ? undefined : childText(error, 'Key');
  if (error !== null && errorKey === undefined) throw storeErrors.MalformedXML();
  if (errorKey === '') throw invalidArgument('The ErrorDocument Key is not well formed', 'ErrorDocument', errorKey);
  const routingRules = rules === null ? [] : children(rules, 'RoutingRule').map((rule) => readRule(rule));
  if (routingRules.length > MAX_RULES) {
    throw invalid(
      `${routingRules.length} routing rules provided, the number of routing rules in a website configuration is limited to ${MAX_RULES}.`,
    );
  }
  return {
    index: suffix,
    ...(errorKey === undefined ? {} : { error: errorKey }),
    ...(routingRules.length === 0 ? {} : { routingRules }),
  };
}

function readRule(element: XmlElement): RoutingRule {
  const condition = only(element, 'Condition');
  const redirect = only(element, 'Redirect');
  if (redirect === null) throw storeErrors.MalformedXML();
  const keyPrefix = condition === null ? undefined : childText(condition, 'KeyPrefixEquals');
  const errorCode = readCode(condition, 'HttpErrorCodeReturnedEquals', ERROR_CODE);
  const status = readCode(redirect, 'HttpRedirectCode', REDIRECT_CODE);
  const prefix = childText(redirect, 'ReplaceKeyPrefixWith');
  const key = childText(redirect, 'ReplaceKeyWith');
  const target = readTarget(redirect);
  if (prefix !== undefined && key !== undefined) {
    throw invalid('You can only define ReplaceKeyPrefix or ReplaceKey but not both.');
  }
  if (condition !== null && keyPrefix === undefined && errorCode === undefined) throw storeErrors.MalformedXML();
  if (Object.keys(target).length === 0 && prefix === undefined && key === undefined) throw storeErrors.MalformedXML();
  return {
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(errorCode === undefined ? {} : { errorCode }),
    redirect: {
      ...target,
      ...(status === undefined ? {} : { status }),
      ...(prefix === undefined ? {} : { keyPrefix: prefix }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

function readTarget(element: XmlElement): Partial<WebsiteTarget> {
  const hostName = childText(element, 'HostName');
  const protocol = childText(element, 'Protocol');
  if (hostName !== undefined && !/^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/.test(hostName)) {
    throw invalid('The hostname is not well formed');
  }
  if (protocol !== undefined && protocol !== 'http' && protocol !== 'https') {
    throw invalid(
      'Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.',
    );
  }
  return { ...(hostName === undefined ? {} : { hostName }), ...(protocol === undefined ? {} : { protocol }) };
}

function readCode(element: XmlElement | null, name: string, { pattern, called, valid }: CodeRule): number | undefined {
  const code = element === null ? undefined : childText(element, name);
  if (code === undefined) return undefined;
  if (!/^\d{1,9}$/.test(code)) throw storeErrors.MalformedXML();
  if (!pattern.test(code)) {
    throw invalid(`The provided HTTP ${called} code (${code.slice(0, 20)}) is not valid. Valid codes are ${valid}.`);
  }
  return Number(code);
}

function only(element: XmlElement, name: string): XmlElement | null {
  const found = children(element, name);
  if (found.length > 1) throw storeErrors.MalformedXML();
  return found[0] ?? null;
}

function toElement({ keyPrefix, errorCode, redirect }: RoutingRule): XmlNode {
  return {
    Condition:
      keyPrefix === undefined && errorCode === undefined
        ? undefined
        : { KeyPrefixEquals: keyPrefix, HttpErrorCodeReturnedEquals: errorCode },
    Redirect: {
      Protocol: redirect.protocol,
      HostName: redirect.hostName,
      ReplaceKeyPrefixWith: redirect.keyPrefix,
      ReplaceKeyWith: redirect.key,
      HttpRedirectCode: redirect.status,
    },
  };
}

function invalid(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

function invalidArgument(reason: string, argumentName: string, argumentValue: string): Error {
  return storeErrors.InvalidArgument({ details: { reason, argumentName, argumentValue } });
}

export const websiteOperations = [
  defineOperation({
    name: 'GetBucketWebsite',
    on: 'bucket',
    method: 'GET',
    subresource: 'website',
    action: 's3:GetBucketWebsite',
    needs: 'bucket:read',
    handle: getBucketWebsite,
  }),
  defineOperation({
    name: 'PutBucketWebsite',
    on: 'bucket',
    method: 'PUT',
    subresource: 'website',
    action: 's3:PutBucketWebsite',
    needs: 'bucket:update',
    handle: putBucketWebsite,
  }),
  defineOperation({
    name: 'DeleteBucketWebsite',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'website',
    action: 's3:DeleteBucketWebsite',
    needs: 'bucket:update',
    handle: deleteBucketWebsite,
  }),
];
