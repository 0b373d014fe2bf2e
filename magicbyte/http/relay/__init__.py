"""Passing requests on: to other servers, and to an application in this process."""
