"""The answers to a refused new topic, from a response in Kafka's protocol: refusals that no broker of ours gives."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, cast

import pytest
from kio.schema.create_topics.v7.response import CreatableTopicResult, CreateTopicsResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import TopicName
from kio.static.primitive import i32Timedelta

from magicbyte.kit.errors import ApiError
from rest_proxy.admin.client import AdminClient
from rest_proxy.admin.topics import NewTopic, create

POLICY_TEXT = "Topic parameters do not satisfy policy: names begin with a team."


class RefusingController:
    """An admin client whose controller refuses every topic."""

    broker_timeout = 1000

    def __init__(self, code: ErrorCode, text: str | None) -> None:
        result = CreatableTopicResult(
            name=TopicName("orders"), topic_id=None, error_code=code, error_message=text, configs=None
        )
        self.response = CreateTopicsResponse(throttle_time=i32Timedelta.parse(timedelta()), topics=(result,))

    async def ask_controller(self, *_: Any) -> CreateTopicsResponse:
        return self.response


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        # create.topic.policy.class.name
        (ErrorCode.policy_violation, POLICY_TEXT, (400, 40002, POLICY_TEXT)),
        (ErrorCode.policy_violation, None, (400, 40002, "Policy violation.")),
        (ErrorCode.invalid_replica_assignment, "1 is there twice", (400, 40002, "1 is there twice")),
        (ErrorCode.invalid_config, "Unknown topic config name: x", (400, 40002, "Unknown topic config name: x")),
        (ErrorCode.cluster_authorization_failed, "no", (403, 40301, "no")),
        (ErrorCode.throttling_quota_exceeded, "later", (429, 42901, "later")),
        (ErrorCode.not_controller, "moved", (500, 50003, "moved")),
        (ErrorCode.unknown_server_error, "why", (400, 40002, "why")),
    ],
)
def test_a_new_topic_is_refused(code: ErrorCode, text: str | None, expected: tuple[int, int, str]) -> None:
    admin = cast("AdminClient", RefusingController(code, text))
    with pytest.raises(ApiError) as refused:
        asyncio.run(create(admin, NewTopic("orders", 1, 1, {}, ()), validate_only=True))
    error = refused.value
    assert (error.status, error.code, error.message) == expected
