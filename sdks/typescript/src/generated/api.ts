/* Made by scripts/generate-types.ts from api/openapi.json; `./svc openapi` writes it anew. */

export interface ObjectStoreOperations {
  /** Read an object that is public; no credentials */
  'GET /api/v1/public/object-store/t/{tenant_id}/objects/{*}': {
    query: {
      "bucket": string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Read an object that is public; no credentials */
  'HEAD /api/v1/public/object-store/t/{tenant_id}/objects/{*}': {
    query: {
      "bucket": string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Status, limits and usage of the workspace’s object store */
  'GET /': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "enabled": boolean;
        /** The UUID of the workspace. */
        "tenant_id": string;
        /** Who owns the buckets in ACLs of the S3 plane. */
        "owner_id": string;
        "owner_display_name": string;
        "s3_endpoint": string;
        "region": string;
        /** Whether there was a bucket yet; keys and domains need one. */
        "provisioned": boolean;
        /** By name, with the unit last. */
        "limits": Record<string, number>;
        "usage": {
          "buckets": number;
          "object_count": number;
          "size_bytes": number;
        };
      };
    };
  };
  /** List buckets */
  'GET /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "buckets": ({
          "name": string;
          "created_at": string;
          "region": string;
          "location_hint": string | null;
          "encryption_mode": "none" | "sse-s3";
          "versioning": "unversioned" | "enabled" | "suspended";
          "publicDefault": boolean;
          "object_count": number;
          "size_bytes": number;
          "soft_delete": {
            "enabled": boolean;
            "retention_days": number;
          };
          /** All that are registered, whether they serve or not yet. */
          "custom_domains": (string)[];
          "state": "active";
        })[];
        "count": number;
      };
    };
  };
  /** Create a bucket; the first one provisions the object store of the workspace */
  'POST /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Made to fit `[a-z0-9-]`; the answer has the final name. */
      "name": string;
      "encryption_mode"?: undefined | "none" | "sse-s3";
      "location_hint"?: undefined | string | null;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "created_at": string;
        "region": string;
        "location_hint": string | null;
        "encryption_mode": "none" | "sse-s3";
        "versioning": "unversioned" | "enabled" | "suspended";
        "publicDefault": boolean;
        "object_count": number;
        "size_bytes": number;
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        /** All that are registered, whether they serve or not yet. */
        "custom_domains": (string)[];
        "state": "active";
      };
    };
  };
  /** List deleted buckets that can be restored */
  'GET /buckets/deleted': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "buckets": ({
          "name": string;
          "state": "soft-deleted" | "deleted";
          "created_at": string;
          "deleted_at": string;
          "purge_at": string | null;
          "restorable": boolean;
        })[];
        "count": number;
      };
    };
  };
  /** Delete a bucket; it can be restored until its purge */
  'DELETE /buckets/{name}': {
    query: {
      "team_uuid"?: undefined | string;
      "force"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "state": "soft-deleted" | "deleted";
        "created_at": string;
        "deleted_at": string;
        "purge_at": string | null;
        "restorable": boolean;
      };
    };
  };
  /** Custom domains of a bucket, and the target for their CNAMEs */
  'GET /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname"?: undefined | string;
        "bucket": string;
        "cname_target": string;
        "dns_hint"?: undefined | string;
        "url"?: undefined | string;
        "status"?: undefined | "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl"?: undefined | {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns"?: undefined | {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at"?: undefined | string;
        "verified_at"?: undefined | string | null;
        "last_checked_at"?: undefined | string | null;
        "error"?: undefined | {
          "code": string;
          "message": string;
        } | null;
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** What the CNAME of the host name must lead to */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          "status": "pending" | "verifying" | "active" | "error" | "blocked";
          "ssl": {
            "status": "initializing" | "pending" | "active" | "error" | "deactivated";
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            "status": "missing" | "mismatch" | "proxied" | "ok";
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Add a custom domain to a bucket */
  'POST /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Make a host name the only custom domain of a bucket */
  'PUT /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove the custom domains of a bucket; they stop serving at once */
  'DELETE /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
      "hostname"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        "removed": (string)[];
      };
    };
  };
  /** Whether new objects of the bucket are encrypted */
  'GET /buckets/{name}/encryption': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "mode": "none" | "sse-s3";
      };
    };
  };
  /** Encrypt new objects of the bucket, or stop */
  'PUT /buckets/{name}/encryption': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "mode": "none" | "sse-s3";
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "mode": "none" | "sse-s3";
      };
    };
  };
  /** Create a folder */
  'POST /buckets/{name}/folders': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Ends in `/`; one that does not gets it. */
      "path": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "path": string;
      };
    };
  };
  /** Lifecycle rules; without any, an empty list */
  'GET /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Replace the lifecycle rules; the JSON of AWS and the rules of R2 are taken too */
  'PUT /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules"?: undefined | ({
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        "filter"?: undefined | {
          "prefix"?: undefined | string;
          "tags"?: undefined | Record<string, string>;
          "size_greater_than"?: undefined | number | null;
          "size_less_than"?: undefined | number | null;
        } | null;
        "expiration"?: undefined | {
          "days"?: undefined | number;
          /** Midnight in UTC. */
          "date"?: undefined | string;
          "expired_object_delete_marker"?: undefined | true;
        } | null;
        "noncurrent_version_expiration"?: undefined | {
          "days": number;
          "newer_versions"?: undefined | number | null;
        } | null;
        "abort_incomplete_multipart_upload"?: undefined | {
          "days": number;
        } | null;
        "conditions"?: undefined | {
          "prefix"?: undefined | string;
        };
        "deleteObjectsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds. */
            "maxAge": number;
          };
        };
        "abortMultipartUploadsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds. */
            "maxAge": number;
          };
        };
      })[];
      "Rules"?: undefined | ({
        "ID"?: undefined | string;
        "Status": "Enabled" | "Disabled";
        "Prefix"?: undefined | string;
        "Filter"?: undefined | {
          "Prefix"?: undefined | string;
          "ObjectSizeGreaterThan"?: undefined | number;
          "ObjectSizeLessThan"?: undefined | number;
          "Tag"?: undefined | {
            "Key": string;
            "Value": string;
          };
          "And"?: undefined | {
            "Prefix"?: undefined | string;
            "ObjectSizeGreaterThan"?: undefined | number;
            "ObjectSizeLessThan"?: undefined | number;
            "Tags"?: undefined | ({
              "Key": string;
              "Value": string;
            })[];
          };
        };
        "Expiration"?: undefined | {
          "Days"?: undefined | number;
          "Date"?: undefined | string;
          "ExpiredObjectDeleteMarker"?: undefined | boolean;
        };
        "NoncurrentVersionExpiration"?: undefined | {
          "NoncurrentDays": number;
          "NewerNoncurrentVersions"?: undefined | number;
        };
        "AbortIncompleteMultipartUpload"?: undefined | {
          "DaysAfterInitiation": number;
        };
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Remove all lifecycle rules */
  'DELETE /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Where the bucket is */
  'GET /buckets/{name}/location': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "location": string;
        "region": string;
        "location_hint": string | null;
        /** The engine that holds the bytes. */
        "provider": string;
      };
    };
  };
  /** Rules of a bucket for webhooks, and how delivery goes */
  'GET /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket. */
          "id": string;
          /** Receives the events. */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events that are still to be delivered; more than 10000 are not counted. */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that were given up; more than 10000 are not counted. */
          "failed": number;
        };
        /** The latest that were given up. */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Replace the rules; none end all notifications */
  'PUT /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules": ({
        /** Unique in the bucket. */
        "id": string;
        /** Receives the events. */
        "webhook": string;
        "events": (string)[];
        "enabled"?: undefined | boolean;
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket. */
          "id": string;
          /** Receives the events. */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events that are still to be delivered; more than 10000 are not counted. */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that were given up; more than 10000 are not counted. */
          "failed": number;
        };
        /** The latest that were given up. */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Try again what was given up */
  'POST /buckets/{name}/notifications/redeliver': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: all of them. */
      "ids"?: undefined | (number)[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "count": number;
      };
    };
  };
  /** What signs the webhooks of a bucket */
  'GET /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Verifies signatures, as Standard Webhooks has it: `whsec_` and base64. */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** A new secret; for a day the one before signs too */
  'POST /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Verifies signatures, as Standard Webhooks has it: `whsec_` and base64. */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** Send a test event now, and say what became of it */
  'POST /buckets/{name}/notifications/test': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: the first. */
      "rule"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "delivered": boolean;
        "error": string | null;
      };
    };
  };
  /** List objects in the order of their keys */
  'GET /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
      "start_after"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "objects": ({
          "key": string;
          "size": number;
          /** Without quotes. */
          "etag": string;
          "last_modified": string;
          "content_type": string;
          "storage_class": string;
          "version_id": string | null;
          /** Anybody may read it, whatever the bucket’s default is. */
          "public": boolean;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
        "key_count": number;
      };
    };
  };
  /** Upload 1 to 20 files of a form */
  'POST /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "objects": ({
          "key": string;
          "size": number;
          "etag": string;
          "version_id": string | null;
          "checksum_crc64nvme": string | null;
          "content_type": string;
          "last_modified": string;
          /** Serves the object where it may be read by anybody. */
          "url": string;
        })[];
      };
    };
  };
  /** Delete an object, or one version of it; what is not there is deleted */
  'DELETE /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "deleted": boolean;
        "delete_marker": boolean;
        "version_id": string | null;
      };
    };
  };
  /** Store the body as an object */
  'PUT /buckets/{name}/objects/content': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "public"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** Serves the object where it may be read by anybody. */
        "url": string;
      };
    };
  };
  /** Delete up to 1,000 objects; each succeeds or fails alone */
  'POST /buckets/{name}/objects/delete': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "keys"?: undefined | (string)[];
      "objects"?: undefined | ({
        "key": string;
        "version_id"?: undefined | string;
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "deleted": ({
          "key": string;
          "deleted": boolean;
          "delete_marker": boolean;
          "version_id": string | null;
        })[];
        "errors": ({
          "key": string;
          "version_id": string | null;
          "code": string;
          "message": string;
        })[];
      };
    };
  };
  /** Download an object, whole or a range of it */
  'GET /buckets/{name}/objects/download': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
      "inline"?: undefined | "0" | "1";
    };
    body: undefined;
    answer: undefined;
  };
  /** Download an object, whole or a range of it */
  'HEAD /buckets/{name}/objects/download': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
      "inline"?: undefined | "0" | "1";
    };
    body: undefined;
    answer: undefined;
  };
  /** List uploads that are not done */
  'GET /buckets/{name}/objects/multipart': {
    query: {
      "team_uuid"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploads": ({
          "uploadId": string;
          "key": string;
          "initiated_at": string;
          "content_type": string;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
      };
    };
  };
  /** Begin an upload in parts */
  'POST /buckets/{name}/objects/multipart': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key": string;
      "content_type"?: undefined | string;
      "cache_control"?: undefined | string;
      /** Kept with the object and given back as `x-amz-meta-*`. */
      "metadata"?: undefined | Record<string, string>;
      "public"?: undefined | boolean;
      /** Bytes, if known: makes the recommendation fit. */
      "size"?: undefined | number;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "key": string;
        "bucket": string;
        "min_part_size": number;
        "max_part_size": number;
        "max_parts": number;
        "recommended_part_size": number;
        "initiated_at": string;
      };
    };
  };
  /** Give an upload up; one that is not there is given up */
  'DELETE /buckets/{name}/objects/multipart/{uploadId}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "aborted": boolean;
      };
    };
  };
  /** Make the object of its parts; a second time gives the same answer */
  'POST /buckets/{name}/objects/multipart/{uploadId}/complete': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Omitted: all that were uploaded. */
      "parts"?: undefined | ({
        "partNumber": number;
        "etag": string;
      })[];
    } | null;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** Serves the object where it may be read by anybody. */
        "url": string;
      };
    };
  };
  /** List the parts that are there, to go on with an upload */
  'GET /buckets/{name}/objects/multipart/{uploadId}/parts': {
    query: {
      "team_uuid"?: undefined | string;
      "cursor"?: undefined | number;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "key": string;
        "parts": ({
          "partNumber": number;
          "etag": string;
          "size": number;
          "checksum_crc64nvme": string | null;
          "last_modified": string | null;
        })[];
        "cursor": number | null;
        "truncated": boolean;
      };
    };
  };
  /** Store the body as a part; the same number again replaces it */
  'PUT /buckets/{name}/objects/multipart/{uploadId}/parts/{n}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "partNumber": number;
        "etag": string;
        "size": number;
        "checksum_crc64nvme": string | null;
        "last_modified": string | null;
      };
    };
  };
  /** Presign a URL for one key, for up to 100, or for the parts of an upload */
  'POST /buckets/{name}/objects/presign': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key"?: undefined | string;
      "keys"?: undefined | (string)[];
      "method"?: undefined | "GET" | "PUT" | "DELETE";
      /** Seconds; 900 by default. */
      "expires_in"?: undefined | number;
      "content_type"?: undefined | string;
      "content_length"?: undefined | number;
      /** The upload fails when the key is taken. */
      "if_none_match"?: undefined | boolean;
      "version_id"?: undefined | string;
      "multipart"?: undefined | {
        "parts": number;
        /** Kept with the object and given back as `x-amz-meta-*`. */
        "metadata"?: undefined | Record<string, string>;
        "cache_control"?: undefined | string;
      };
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key"?: undefined | string;
        "url"?: undefined | string;
        "method"?: undefined | string;
        "headers"?: undefined | Record<string, string>;
        "expires_at": string;
        "urls"?: undefined | ({
          "key": string;
          "url": string;
          "method": string;
          /** To be sent as they are. */
          "headers": Record<string, string>;
          "expires_at": string;
        })[];
        "uploadId"?: undefined | string;
        "parts"?: undefined | ({
          "partNumber": number;
          "url": string;
        })[];
      };
    };
  };
  /** Versions and delete markers, the newest of each key first */
  'GET /buckets/{name}/objects/versions': {
    query: {
      "team_uuid"?: undefined | string;
      "key"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "versions": ({
          "key": string;
          "version_id": string;
          "is_latest": boolean;
          "delete_marker": boolean;
          "size": number;
          "etag": string | null;
          "last_modified": string;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
      };
    };
  };
  /** Make an older version the newest */
  'POST /buckets/{name}/objects/versions/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key": string;
      "version_id": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** Serves the object where it may be read by anybody. */
        "url": string;
      };
    };
  };
  /** Restore a deleted bucket */
  'POST /buckets/{name}/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "created_at": string;
        "region": string;
        "location_hint": string | null;
        "encryption_mode": "none" | "sse-s3";
        "versioning": "unversioned" | "enabled" | "suspended";
        "publicDefault": boolean;
        "object_count": number;
        "size_bytes": number;
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        /** All that are registered, whether they serve or not yet. */
        "custom_domains": (string)[];
        "state": "active";
      };
    };
  };
  /** Settings of a bucket, defaults filled in */
  'GET /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Change settings: what is not given stays, null is the default */
  'PUT /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "publicDefault"?: undefined | boolean | null;
      "cacheControl"?: undefined | string | null;
      "cors_rules"?: undefined | ({
        "id"?: undefined | string;
        "allowed_origins": (string)[];
        "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
        "allowed_headers"?: undefined | (string)[];
        "expose_headers"?: undefined | (string)[];
        "max_age_seconds"?: undefined | number | null;
      })[] | null;
      "soft_delete"?: undefined | {
        "enabled"?: undefined | boolean | null;
        "retention_days"?: undefined | number | null;
      } | null;
      "max_object_size"?: undefined | number | null;
      "allowed_content_types"?: undefined | (string)[] | null;
      "quota"?: undefined | {
        "max_bytes"?: undefined | number | null;
        "max_objects"?: undefined | number | null;
      } | null;
      "website"?: undefined | {
        /** Name below each folder. */
        "index": string;
        "error"?: undefined | string | null;
      } | null;
      "notifications"?: undefined | {
        /** Which rule, where the bucket has several. */
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        /** Receives the events. */
        "webhook": string;
        "events": (string)[];
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      } | null;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Whether the bucket keeps versions */
  'GET /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** Keep versions from now on, or stop; a bucket is never unversioned again */
  'PUT /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "status"?: undefined | "enabled" | "suspended" | "Enabled" | "Suspended";
      "enabled"?: undefined | boolean;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** List custom domains */
  'GET /domains': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** What the CNAME of the host name must lead to */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          "status": "pending" | "verifying" | "active" | "error" | "blocked";
          "ssl": {
            "status": "initializing" | "pending" | "active" | "error" | "deactivated";
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            "status": "missing" | "mismatch" | "proxied" | "ok";
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Register a custom domain on a bucket */
  'POST /domains': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
      "bucket": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove a custom domain; it stops serving at once */
  'DELETE /domains/{hostname}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "removed": true;
      };
    };
  };
  /** Look at the DNS of a custom domain now, at most once in 10 seconds, and show its status */
  'GET /domains/{hostname}/status': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** What the CNAME of the host name must lead to */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** List access keys, without secrets */
  'GET /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "keys": ({
          "accessKeyId": string;
          "label": string;
          "permissions": ("read" | "write" | "admin")[];
          /** `["*"]`: all of the workspace. */
          "buckets": (string)[];
          "role": "ReadOnly" | "Editor" | "NamespaceAdmin";
          "expires_at": string | null;
          "created_at": string;
          /** Id of the user or service account that created it. */
          "created_by": string;
          /** Its e-mail or name at that time; empty for old keys. */
          "created_by_name": string;
          /** A key gives no more than its creator may do now. `limited`: only `effective_permissions` are left. `suspended`: nothing is left, and requests are refused. */
          "status": "active" | "limited" | "suspended" | "expired";
          "status_reason": string | null;
          "effective_permissions": ("read" | "write" | "admin")[];
          "last_used_at": string | null;
        })[];
        "count": number;
      };
    };
  };
  /** Create an access key; its secret is in this answer and never again */
  'POST /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "label"?: undefined | string;
      "permissions"?: undefined | ("read" | "write" | "admin")[];
      "buckets"?: undefined | (string)[];
      "expires_at"?: undefined | string | null;
    } | null;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "accessKeyId": string;
        /** In this answer only. */
        "secretAccessKey": string;
        "s3_endpoint": string;
        "region": string;
        "tenant_id": string;
        "key": {
          "accessKeyId": string;
          "secretAccessKey": string;
          "label": string;
          "permissions": ("read" | "write" | "admin")[];
          /** `["*"]`: all of the workspace. */
          "buckets": (string)[];
          "role": "ReadOnly" | "Editor" | "NamespaceAdmin";
          "expires_at": string | null;
        };
      };
    };
  };
  /** Revoke an access key */
  'DELETE /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "accessKeyId": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "accessKeyId": string;
      };
    };
  };
  /** Remove the bytes of deleted objects now, without their grace */
  'DELETE /trash': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Objects, uploads and replaced parts that go. */
        "entries": number;
        "bytes": number;
      };
    };
  };
  /** URLs at which the objects of a bucket can be reached */
  'GET /urls': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket": string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        /** Whether anybody may read the objects by default. */
        "public": boolean;
        /** A key is put behind it. */
        "virtual_host": string;
        /** A key is put behind it. */
        "path_style": string;
        /** `{key}` is to be replaced by a key, percent-encoded. */
        "management_public": string;
        /** The same in an origin of its own, where the operator gave public objects one (`object_store.public_objects.domain`). */
        "public_objects": string | null;
        "custom_domains": (string)[];
      };
    };
  };
  /** Usage over time, of the workspace or of one bucket */
  'GET /usage': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket"?: undefined | string;
      "from"?: undefined | string;
      "to"?: undefined | string;
      "resolution"?: undefined | "hour" | "day";
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string | null;
        "resolution": "hour" | "day";
        "from": string;
        "to": string;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        } | null;
        /** By time. A period in which the platform did not run, or the bucket was not there, has none. */
        "points": ({
          /** The beginning of the hour or day, UTC. */
          "at": string;
          /** At the end of the period, or at the last look before that. */
          "object_count": number;
          /** Likewise. */
          "size_bytes": number;
          /** Within the period, like the bytes that follow. */
          "request_count": number;
          /** Of the bodies of requests, as they were sent. */
          "bytes_in": number;
          /** Of the bodies of answers. */
          "bytes_out": number;
        })[];
      };
    };
  };
}

export interface SandboxOperations {
  /** Sign in as a guest, for smoke tests; off unless configured */
  'POST /auth/guest': {
    query: Record<string, never>;
    body: {
      "username": string;
      "email"?: undefined | string;
    };
    answer: {
      "token": string;
      "token_type": "Bearer";
      /** Seconds */
      "expires_in": number;
      "expires_at": string;
      "guest": true;
      "user": {
        "id": string;
        "username": string;
        /** Always empty */
        "email": string;
        "tier": "guest";
      };
      /** How many sandboxes the guest may have */
      "containers": number;
    };
  };
  /** List sandboxes, newest first; filters: status, name, label.KEY=VALUE */
  'GET /containers': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "status"?: undefined | "creating" | "running" | "stopped" | "error";
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "containers": ({
        "id": string;
        "name": string;
        "image": string;
        "snapshot_id": string | null;
        "status": "creating" | "running" | "stopped" | "error";
        "state_reason": string | null;
        "error": {
          "code": string;
          "message": string;
          "recoverable": boolean;
        } | null;
        /** RFC 3339, UTC, milliseconds */
        "created_at": string;
        "started_at": string | null;
        "paused_at": string | null;
        "expires_at": string | null;
        /** RFC 3339, UTC, milliseconds */
        "last_activity_at": string;
        "labels": Record<string, string>;
        "environment": Record<string, string>;
        "resources": {
          "cpu": number;
          "memory_mb": number;
          "disk_mb": number;
          "pids": number;
        };
        "driver": string;
        "isolation": "namespaces" | "gvisor";
        /** Its programs call the kernel of the machine that it runs on */
        "shares_kernel": boolean;
        "network": "none" | "egress";
        /** Hosts that it may reach; null: whatever is public */
        "egress_allow": (string)[] | null;
        "image_progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** One sentence for people: what is being done, and how far it is */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to fetch; 0 when nothing is fetched */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "count": number;
      /** How many sandboxes the caller may have */
      "limit": number;
      "next_cursor": string | null;
    };
  };
  /** Make a sandbox: 201 when it runs in time, else 202 */
  'POST /containers': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: {
      /** A name or alias of the catalog */
      "image"?: undefined | string;
      /** In the place of an image */
      "snapshot_id"?: undefined | string;
      "name"?: undefined | string | null;
      "environment"?: undefined | Record<string, string> | null;
      "labels"?: undefined | Record<string, string> | null;
      "resources"?: undefined | {
        "cpu"?: undefined | number;
        "memory_mb"?: undefined | number;
        "disk_mb"?: undefined | number;
        "pids"?: undefined | number;
      };
      "network"?: undefined | "none" | "egress";
      /** Hosts such as example.com, or *.example.com for all below it; everything else is refused */
      "egress_allow"?: undefined | (string)[];
      /** default: as sandboxes.isolation of the platform says */
      "isolation"?: undefined | "default" | "namespaces" | "gvisor";
      "idle_timeout_seconds"?: undefined | number;
      "max_lifetime_seconds"?: undefined | number;
    };
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Read a sandbox; with wait_for it answers when the state is reached or the time is over */
  'GET /containers/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_for"?: undefined | "creating" | "running" | "stopped" | "error";
      "timeout"?: undefined | number;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Delete a sandbox and its files, in any state */
  'DELETE /containers/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
      "message": string;
    };
  };
  /** Events of a sandbox, as a stream or in pages */
  'GET /containers/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "format"?: undefined | "sse" | "json";
      "cursor"?: undefined | string;
      "page_size"?: undefined | number;
      "last_event_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        /** Grows by one with each event of the workspace */
        "id": number;
        "sandbox_id": string;
        "type": "created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused";
        "at": string;
        "details": Record<string, unknown>;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Run a command and answer its output and exit code; with stream, the output as it comes */
  'POST /containers/{id}/exec': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "command"?: undefined | string | (string)[];
      "cmd"?: undefined | string | (string)[];
      "workdir"?: undefined | string;
      "cwd"?: undefined | string;
      "env"?: undefined | Record<string, string> | (string)[];
      /** Only root is known inside a sandbox */
      "user"?: undefined | string;
      /** What the command reads; nothing by default */
      "stdin"?: undefined | string;
      "stdin_encoding"?: undefined | "utf-8" | "base64";
      "encoding"?: undefined | "utf-8" | "base64";
      /** 60 by default */
      "timeout_seconds"?: undefined | number;
      /** Output as it comes, as server-sent events */
      "stream"?: undefined | boolean;
    };
    answer: {
      "command": string | (string)[];
      "stdout": string;
      "stderr": string;
      /** Both, in the order of their arrival */
      "output": string;
      "encoding": "utf-8" | "base64";
      /** 128 + number after a signal; -1 when the time was over */
      "exit_code": number;
      "signal": string | null;
      "duration_ms": number;
      /** Of something only the beginning and the end are there */
      "truncated": boolean;
      /** As much as it was */
      "stdout_bytes": number;
      "stderr_bytes": number;
      "timed_out": boolean;
    };
  };
  /** Read a file: its bytes, or with format=json its content in base64; with archive=tar a folder */
  'GET /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Read a file: its bytes, or with format=json its content in base64; with archive=tar a folder */
  'HEAD /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Write a file at once: 201 when it is new, 200 when it took the place of another */
  'POST /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "mode"?: undefined | string;
      "append"?: undefined | boolean;
      "create_dirs"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "filename": string;
      "size": number;
      "mode": string;
      "mod_time": string;
      /** Of the bytes that were sent */
      "sha256": string;
      /** Of the file as it is now, as reading it tells; for `If-Match` */
      "etag": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Delete a file, or a directory with all that is in it */
  'DELETE /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "recursive"?: undefined | boolean;
      "missing_ok"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "deleted": boolean;
      "message": string;
    };
  };
  /** Unpack a tar archive (plain or gzip) into a folder, which is made where it is missing */
  'PUT /containers/{id}/files/archive': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "path": string;
      "entries": number;
      /** Of the files in the archive */
      "size_bytes": number;
    };
  };
  /** List a directory, directories first */
  'GET /containers/{id}/files/list': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "format"?: undefined | "object" | "array";
    };
    body: undefined;
    answer: {
      "path": string;
      "files": ({
        "name": string;
        /** The name's bytes in base64, where they are no UTF-8 */
        "name_b64"?: undefined | string;
        "path": string;
        "size": number;
        /** Such as -rw-r--r-- */
        "mode": string;
        "mode_octal": string;
        "mod_time": string;
        "is_dir": boolean;
        "type": "file" | "dir" | "symlink" | "other";
        "link_target": string | null;
        "uid": number;
        "gid": number;
      })[];
      /** Entries of this page */
      "count": number;
      /** Entries of the directory */
      "total": number;
      "next_cursor": string | null;
    } | ({
      "name": string;
      /** The name's bytes in base64, where they are no UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    })[];
  };
  /** Make a directory, with those on the way; the path in the body or the query */
  'POST /containers/{id}/files/mkdir': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: {
      "path": string;
      /** Octal digits such as "0644", or the number itself */
      "mode"?: undefined | string | number;
      "parents"?: undefined | boolean;
    } | null;
    answer: {
      "path": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Rename or move within the sandbox, in one step */
  'POST /containers/{id}/files/move': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "path": string;
      "target": string;
      "overwrite"?: undefined | boolean;
    };
    answer: {
      "path": string;
      "message": string;
    };
  };
  /** Attributes of one path; a link is not followed */
  'GET /containers/{id}/files/stat': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      /** The name's bytes in base64, where they are no UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    };
  };
  /** Changes of a file or folder as server-sent events */
  'GET /containers/{id}/files/watch': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "recursive"?: undefined | boolean;
    };
    body: undefined;
    answer: undefined;
  };
  /** Make sandboxes that begin with the files of this one as they are now: all or none */
  'POST /containers/{id}/fork': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: {
      "name"?: undefined | string;
      /** 1 by default */
      "count"?: undefined | number;
    } | null;
    answer: {
      "containers": ({
        "id": string;
        "name": string;
        "image": string;
        "snapshot_id": string | null;
        "status": "creating" | "running" | "stopped" | "error";
        "state_reason": string | null;
        "error": {
          "code": string;
          "message": string;
          "recoverable": boolean;
        } | null;
        /** RFC 3339, UTC, milliseconds */
        "created_at": string;
        "started_at": string | null;
        "paused_at": string | null;
        "expires_at": string | null;
        /** RFC 3339, UTC, milliseconds */
        "last_activity_at": string;
        "labels": Record<string, string>;
        "environment": Record<string, string>;
        "resources": {
          "cpu": number;
          "memory_mb": number;
          "disk_mb": number;
          "pids": number;
        };
        "driver": string;
        "isolation": "namespaces" | "gvisor";
        /** Its programs call the kernel of the machine that it runs on */
        "shares_kernel": boolean;
        "network": "none" | "egress";
        /** Hosts that it may reach; null: whatever is public */
        "egress_allow": (string)[] | null;
        "image_progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** One sentence for people: what is being done, and how far it is */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to fetch; 0 when nothing is fetched */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "count": number;
    };
  };
  /** What a sandbox uses now and used lately; a number that is not known is null */
  'GET /containers/{id}/metrics': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "since"?: undefined | string;
    };
    body: undefined;
    answer: {
      "current": {
        "at": string;
        /** CPUs, averaged since the sample before */
        "cpu_cores": number | null;
        /** Memory in use, page cache included */
        "memory_bytes": number | null;
        "memory_limit_bytes": number;
        /** Processes and threads */
        "pids": number | null;
        /** Used of its own disk */
        "disk_bytes": number | null;
        "disk_limit_bytes": number;
      };
      "samples": ({
        "at": string;
        /** CPUs, averaged since the sample before */
        "cpu_cores": number | null;
        /** Memory in use, page cache included */
        "memory_bytes": number | null;
        "memory_limit_bytes": number;
        /** Processes and threads */
        "pids": number | null;
        /** Used of its own disk */
        "disk_bytes": number | null;
        "disk_limit_bytes": number;
      })[];
    };
  };
  /** Pause a sandbox: its processes stand still and keep their memory; a use resumes it */
  'POST /containers/{id}/pause': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** List the links to ports that are in use, without their signatures */
  'GET /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "ports": ({
        "id": string;
        "port": number;
        "created_at": string;
        "expires_at": string;
      })[];
      "count": number;
    };
  };
  /** Make a signed link to a port of the sandbox, for whoever has it */
  'POST /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "port": number;
      /** 3600 by default */
      "expires_in_seconds"?: undefined | number;
    };
    answer: {
      "id": string;
      "port": number;
      /** An origin of its own, for one port of one sandbox */
      "url": string;
      /** The same on the host of the platform, without cookies and in an origin of nobody */
      "path_url": string;
      "expires_at": string;
    };
  };
  /** Take back every link to a port of the sandbox; what is open by them is cut */
  'DELETE /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Links that are worth nothing any more */
      "revoked": number;
    };
  };
  /** Take back the links to one port; what is open by them is cut */
  'DELETE /containers/{id}/ports/{port}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Links that are worth nothing any more */
      "revoked": number;
    };
  };
  /** Resume a paused sandbox: its processes go on where they stood */
  'POST /containers/{id}/resume': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Copy the files of a sandbox; its processes stand still while they are copied */
  'POST /containers/{id}/snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "name"?: undefined | string;
    } | null;
    answer: {
      "id": string;
      "name": string;
      /** What it was made of; that may be gone */
      "sandbox_id": string;
      "image": string;
      /** Of the disk of sandboxes that are made from it */
      "disk_mb": number;
      /** What it takes on the disk */
      "size_bytes": number;
      "created_at": string;
    };
  };
  /** Start a stopped sandbox, or bring one in error back with its files */
  'POST /containers/{id}/start': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Stop a sandbox; its files stay */
  'POST /containers/{id}/stop': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "driver": string;
      "isolation": "namespaces" | "gvisor";
      /** Its programs call the kernel of the machine that it runs on */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts that it may reach; null: whatever is public */
      "egress_allow": (string)[] | null;
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** One sentence for people: what is being done, and how far it is */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to fetch; 0 when nothing is fetched */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Make a one-use ticket (30 s) that opens a terminal: /ws/terminal/ID?ticket= */
  'POST /containers/{id}/terminal/tickets': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "ticket": string;
      "expires_at": string;
    };
  };
  /** List terminal sessions: shells that outlive their clients */
  'GET /containers/{id}/terminals': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "terminals": ({
        "session": string;
        "pid": number;
        "shell": string;
        "cols": number;
        "rows": number;
        /** Clients that look at it now */
        "attached": number;
        /** The shell has ended; its last output and exit code wait for a client */
        "exited": boolean;
        "started_at": string;
      })[];
      "count": number;
    };
  };
  /** End a terminal session: its shell is hung up */
  'DELETE /containers/{id}/terminals/{session}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "session": string;
      "deleted": true;
    };
  };
  /** Events of all sandboxes of the workspace, as a stream or in pages */
  'GET /events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "format"?: undefined | "sse" | "json";
      "cursor"?: undefined | string;
      "page_size"?: undefined | number;
      "last_event_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        /** Grows by one with each event of the workspace */
        "id": number;
        "sandbox_id": string;
        "type": "created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused";
        "at": string;
        "details": Record<string, unknown>;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** List the images that sandboxes can be made of; popular ones only, unless all=true */
  'GET /images': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "all"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "images": ({
        "name": string;
        "display_name": string;
        "description": string;
        "category": string;
        "tags": (string)[];
        "popular": boolean;
        "default": boolean;
        "aliases": (string)[];
        "cached": boolean;
        "drivers": (string)[];
        "progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** One sentence for people: what is being done, and how far it is */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to fetch; 0 when nothing is fetched */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "categories": Record<string, (string)[]>;
      "popular": (string)[];
      "count": number;
    };
  };
  /** List snapshots, newest first */
  'GET /snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "sandbox_id"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "snapshots": ({
        "id": string;
        "name": string;
        /** What it was made of; that may be gone */
        "sandbox_id": string;
        "image": string;
        /** Of the disk of sandboxes that are made from it */
        "disk_mb": number;
        /** What it takes on the disk */
        "size_bytes": number;
        "created_at": string;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Read a snapshot */
  'GET /snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** What it was made of; that may be gone */
      "sandbox_id": string;
      "image": string;
      /** Of the disk of sandboxes that are made from it */
      "disk_mb": number;
      /** What it takes on the disk */
      "size_bytes": number;
      "created_at": string;
    };
  };
  /** Delete a snapshot; sandboxes that were made from it stay as they are */
  'DELETE /snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
      "message": string;
    };
  };
}

export interface ClusterOperations {
  /** List clusters with their live state */
  'GET /': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "clusters": ({
        "id": string;
        "name": string;
        /** pending: no agent has come yet; offline: three heartbeats are missing */
        "status": "pending" | "online" | "offline";
        "connected": boolean;
        "created_at": string;
        "connected_at": string | null;
        "disconnected_at": string | null;
        "last_seen_at": string | null;
        "agent_version": string | null;
        "kubernetes_version": string | null;
        "protocol": "svc" | "contract" | null;
        "capabilities": (string)[];
        "health": string | null;
        "nodes": number | null;
        "pods": number | null;
        "services": number | null;
        "status_at": string | null;
        "heartbeat": {
          "status": string;
          /** Fraction 0..1 of what the nodes can give */
          "cpu_usage": number;
          "memory_usage": number;
          "active_pods": number;
        } | null;
        "clock_skew_seconds": number | null;
        "warnings": ({
          /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a right; TWO_AGENTS: two agents use the token and replace each other */
          "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
          "message": string;
        })[];
      })[];
      "next_cursor": string | null;
    };
  };
  /** Register a cluster */
  'POST /': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "name": string;
    };
    answer: {
      "id": string;
      "name": string;
      /** pending: no agent has come yet; offline: three heartbeats are missing */
      "status": "pending" | "online" | "offline";
      "connected": boolean;
      "created_at": string;
      "connected_at": string | null;
      "disconnected_at": string | null;
      "last_seen_at": string | null;
      "agent_version": string | null;
      "kubernetes_version": string | null;
      "protocol": "svc" | "contract" | null;
      "capabilities": (string)[];
      "health": string | null;
      "nodes": number | null;
      "pods": number | null;
      "services": number | null;
      "status_at": string | null;
      "heartbeat": {
        "status": string;
        /** Fraction 0..1 of what the nodes can give */
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
      } | null;
      "clock_skew_seconds": number | null;
      "warnings": ({
        /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a right; TWO_AGENTS: two agents use the token and replace each other */
        "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
        "message": string;
      })[];
      /** The token of the agent; shown this once */
      "token": string;
      "install": {
        "helm": string;
        "kubectl": string;
        /** Only the token: what an agent that runs already needs of a new one */
        "secret": string;
        /** For each node first, where nodes cannot pull the agent's image; available: whether the platform has one to give */
        "image": {
          "command": string;
          "available": boolean;
        } | null;
      };
    };
  };
  /** Read a cluster */
  'GET /{cluster}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** pending: no agent has come yet; offline: three heartbeats are missing */
      "status": "pending" | "online" | "offline";
      "connected": boolean;
      "created_at": string;
      "connected_at": string | null;
      "disconnected_at": string | null;
      "last_seen_at": string | null;
      "agent_version": string | null;
      "kubernetes_version": string | null;
      "protocol": "svc" | "contract" | null;
      "capabilities": (string)[];
      "health": string | null;
      "nodes": number | null;
      "pods": number | null;
      "services": number | null;
      "status_at": string | null;
      "heartbeat": {
        "status": string;
        /** Fraction 0..1 of what the nodes can give */
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
      } | null;
      "clock_skew_seconds": number | null;
      "warnings": ({
        /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a right; TWO_AGENTS: two agents use the token and replace each other */
        "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
        "message": string;
      })[];
    };
  };
  /** Remove a cluster with its history and end its agent */
  'DELETE /{cluster}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List commands, newest first */
  'GET /{cluster}/commands': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "commands": ({
        "id": string;
        "command": string;
        /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
        "status": string;
        /** Name of the cluster */
        "cluster": string;
        "cluster_id": string;
        "created_at": string;
        "created_by": string;
        "sent_at": string | null;
        "acknowledged_at": string | null;
        "cancel_requested_at": string | null;
        "finished_at": string | null;
        "result": Record<string, unknown> | null;
        "error": {
          "code": string;
          "message": string;
          "details"?: undefined | Record<string, unknown>;
        } | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Read a command with its result */
  'GET /{cluster}/commands/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Cancel a command that is not finished; a finished one stays as it is */
  'DELETE /{cluster}/commands/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Follow a command and its output (server-sent events, resumable by Last-Event-ID) */
  'GET /{cluster}/commands/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Change the terminal size of a running exec */
  'POST /{cluster}/commands/{id}/resize': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "rows": number;
      "cols": number;
    };
    answer: undefined;
  };
  /** Give a running exec more of its standard input, or its end */
  'POST /{cluster}/commands/{id}/stdin': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "data": string;
      "encoding"?: undefined | "utf8" | "base64";
      "eof"?: undefined | boolean;
    };
    answer: undefined;
  };
  /** Deploy a manifest */
  'POST /{cluster}/deploy': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
      "queue_if_offline"?: undefined | boolean;
    };
    body: {
      "project_id": string;
      /** Kubernetes manifest: YAML, one or more documents */
      "manifest": string;
      "namespace": string;
      "dry_run"?: undefined | boolean;
      "prune"?: undefined | boolean;
      "wait"?: undefined | boolean;
      "timeout_seconds"?: undefined | number;
      "force_conflicts"?: undefined | boolean;
      "revision"?: undefined | string;
      /** Keep it until the agent comes, instead of 503 */
      "queue_if_offline"?: undefined | boolean;
    };
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** List deployments, newest first */
  'GET /{cluster}/deployments': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "project_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "deployments": ({
        "id": string;
        "command_id": string;
        "project_id": string;
        "namespace": string;
        "manifest_sha256": string;
        "dry_run": boolean;
        /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
        "status": string;
        /** Name of the cluster */
        "cluster": string;
        "cluster_id": string;
        "created_at": string;
        "created_by": string;
        "sent_at": string | null;
        "acknowledged_at": string | null;
        "cancel_requested_at": string | null;
        "finished_at": string | null;
        "result": Record<string, unknown> | null;
        "error": {
          "code": string;
          "message": string;
          "details"?: undefined | Record<string, unknown>;
        } | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Read a deployment with its result */
  'GET /{cluster}/deployments/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Cancel a deployment that is not finished */
  'DELETE /{cluster}/deployments/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Follow a deployment (server-sent events, resumable by Last-Event-ID) */
  'GET /{cluster}/deployments/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Events of the cluster; with Accept: text/event-stream a stream, resumable by Last-Event-ID */
  'GET /{cluster}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "event_type"?: undefined | string;
      "namespace"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        "sequence": number;
        "event_type": string;
        "namespace": string;
        "resource": string;
        "details": Record<string, unknown>;
        "occurred_at": string;
        "received_at": string;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Run a command in a container */
  'POST /{cluster}/exec': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: {
      "pod": string;
      "namespace": string;
      "container"?: undefined | string;
      "command": (string)[];
      "timeout_seconds"?: undefined | number;
      "max_output_bytes"?: undefined | number;
      "stream"?: undefined | boolean;
      "stdin"?: undefined | boolean;
      "tty"?: undefined | boolean;
      "rows"?: undefined | number;
      "cols"?: undefined | number;
      "queue_if_offline"?: undefined | boolean;
    };
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then succeeded, failed, timed_out, cancelled, superseded or lost, which never change */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Logs of a container, as text or, with Accept: text/event-stream, as events */
  'GET /{cluster}/logs': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "pod": string;
      "namespace": string;
      "container"?: undefined | string;
      "tail_lines"?: undefined | number;
      "follow"?: undefined | boolean;
      "since_time"?: undefined | string;
      "since_seconds"?: undefined | number;
      "previous"?: undefined | boolean;
      "timestamps"?: undefined | boolean;
      "limit_bytes"?: undefined | number;
      "resume_after"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List the nodes of a cluster */
  'GET /{cluster}/nodes': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "nodes": ({
        "name": string;
        /** unknown: its kubelet does not report */
        "state": "ready" | "not_ready" | "unknown";
        "ready": boolean;
        /** False when it is cordoned */
        "schedulable": boolean;
        /** Such as MemoryPressure or DiskPressure */
        "pressures": (string)[];
        "roles": (string)[];
        "created_at": string | null;
        "kubelet_version": string | null;
        "os_image": string | null;
        "architecture": string | null;
        "internal_ip": string | null;
        "cpu_capacity_cores": number | null;
        "memory_capacity_bytes": number | null;
        "pods_capacity": number | null;
        /** Null where the cluster serves no metrics */
        "cpu_usage_cores": number | null;
        "memory_usage_bytes": number | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** List the pods of a cluster */
  'GET /{cluster}/pods': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "namespace"?: undefined | string;
      "node"?: undefined | string;
      "label_selector"?: undefined | string;
    };
    body: undefined;
    answer: {
      "pods": ({
        "namespace": string;
        "name": string;
        /** As kubectl shows it: Running, CrashLoopBackOff, Init:1/2, Terminating */
        "state": string;
        /** Why it does not run, in the words of the kubelet or the scheduler; null when nothing is in the way */
        "message": string | null;
        "phase": string | null;
        "ready": boolean;
        "ready_containers": number;
        "total_containers": number;
        "restarts": number;
        "created_at": string | null;
        "node": string | null;
        "ip": string | null;
        /** The workload that made it; the Deployment for pods of its ReplicaSets */
        "owner": {
          "kind": string;
          "name": string;
        } | null;
        "default_container": string | null;
        "containers": ({
          "name": string;
          "image": string | null;
          /** Runs before the others, or beside them when it is a sidecar */
          "init": boolean;
          /** Running, or why not: CrashLoopBackOff, ImagePullBackOff, Completed */
          "state": string;
          "ready": boolean;
          "restarts": number;
        })[];
        /** Null where the cluster serves no metrics */
        "cpu_usage_cores": number | null;
        "memory_usage_bytes": number | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Live state and the history of heartbeats */
  'GET /{cluster}/status': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "since"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "cluster": {
        "id": string;
        "name": string;
        /** pending: no agent has come yet; offline: three heartbeats are missing */
        "status": "pending" | "online" | "offline";
        "connected": boolean;
        "created_at": string;
        "connected_at": string | null;
        "disconnected_at": string | null;
        "last_seen_at": string | null;
        "agent_version": string | null;
        "kubernetes_version": string | null;
        "protocol": "svc" | "contract" | null;
        "capabilities": (string)[];
        "health": string | null;
        "nodes": number | null;
        "pods": number | null;
        "services": number | null;
        "status_at": string | null;
        "heartbeat": {
          "status": string;
          /** Fraction 0..1 of what the nodes can give */
          "cpu_usage": number;
          "memory_usage": number;
          "active_pods": number;
        } | null;
        "clock_skew_seconds": number | null;
        "warnings": ({
          /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a right; TWO_AGENTS: two agents use the token and replace each other */
          "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
          "message": string;
        })[];
      };
      "heartbeats": ({
        "at": string;
        "status": string | null;
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
        /** More than 1: an average of ten minutes */
        "samples": number;
      })[];
    };
  };
  /** Make a new agent token; the older one ends at once or after an overlap */
  'POST /{cluster}/token': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "overlap_seconds"?: undefined | number;
    } | null;
    answer: {
      "id": string;
      "name": string;
      /** The token of the agent; shown this once */
      "token": string;
      "install": {
        "helm": string;
        "kubectl": string;
        /** Only the token: what an agent that runs already needs of a new one */
        "secret": string;
        /** For each node first, where nodes cannot pull the agent's image; available: whether the platform has one to give */
        "image": {
          "command": string;
          "available": boolean;
        } | null;
      };
    };
  };
  /** Where the tunnel of a cluster is reached; what a kubeconfig is made of */
  'GET /{cluster}/tunnel-endpoints': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "cluster_id": string;
      "cluster_name": string;
      /** For programs with a token: below it, /{service}/<path> */
      "host_url": string;
      /** Server of a kubeconfig */
      "kubernetes_url": string;
      "certificate_authority": string | null;
    };
  };
  /** Make an address with which a browser reaches a forwarded service for a while */
  'POST /{cluster}/tunnel-links': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Name of a forward of the agent */
      "service": string;
      "expires_in_seconds"?: undefined | number;
    };
    answer: {
      "url": string;
      "expires_at": string;
    };
  };
  /** List Deployments, StatefulSets, DaemonSets, CronJobs and Jobs of a cluster, kind after kind */
  'GET /{cluster}/workloads': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "namespace"?: undefined | string;
      "kind"?: undefined | "Deployment" | "StatefulSet" | "DaemonSet" | "CronJob" | "Job";
    };
    body: undefined;
    answer: {
      "workloads": ({
        /** Kind of Kubernetes */
        "kind": "Deployment" | "StatefulSet" | "DaemonSet" | "CronJob" | "Job";
        "namespace": string;
        "name": string;
        /** available, progressing, failed or scaled_down; suspended for what was told to wait, completed for a Job, scheduled for a CronJob */
        "state": string;
        /** Pods that are ready; of a Job, that succeeded; of a CronJob, Jobs that run */
        "ready": number;
        /** Pods that are wanted */
        "desired": number;
        /** Pods of the newest template */
        "updated": number;
        "images": (string)[];
        "created_at": string | null;
        /** Finds its pods: the `label_selector` of /pods. Null when it cannot be written as one */
        "selector": string | null;
      })[];
      "next_cursor": string | null;
    };
  };
}
